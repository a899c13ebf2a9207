#!/usr/bin/env bash
# join.sh STUDY [OPTION OF SNAKEMAKE…] -- TARGET…: goes on with all parts of a study in this checkout, where its text has been made.
set -eu
shopt -s nullglob
study=$1 parts=$(dirname "$0") like=
shift
read -ra presets <"$parts/$study/presets"
if [ ${#presets[@]} = 3 ]; then # on top of mini-next: a study with its text and some of its models
    like=mini-next
    mkdir -p "results/$study"
    (cd "results/$like" && cp -aln bpe vocab tasks parallel tatoeba links tokenisers dictionary corpus "../$study")
fi
if [ ! -f "results/$study/dated" ]; then # results must not be older than the text that they are made from
    data=(results/data*)
    find "results/$study" "${data[@]}" -type f -exec touch -d 2026-01-01 {} +
    touch "results/$study/dated"
fi
for part in "$parts"/*/*.tar.xz; do tar xJf "$part"; done
analyses=(results/"$study"/analyses/*.json) plans=()
for plan in "${analyses[@]/analyses/plans}"; do [ -f "$plan" ] || plans+=("$plan"); done
if [ ${#plans[@]} -gt 0 ]; then # they are in no part, and newer ones than the analyses would make those again
    .venv/bin/snakemake --cores 2 --configfile "${presets[@]}" --rerun-triggers mtime --quiet all -- "${plans[@]}"
    touch -d 2026-01-01 "${plans[@]}"
fi
if [ "$like" ]; then cp -aln results/$like/{models,transfer} "results/$study"; fi
.venv/bin/snakemake --cores 2 --configfile "${presets[@]}" --rerun-triggers mtime "$@"
