#!/usr/bin/env bash
# join.sh STUDY [OPTION OF SNAKEMAKE…] -- TARGET…: goes on with all parts of a study in this checkout, where its text has been made.
set -eu
shopt -s nullglob
study=$1 here=$(dirname "$0")/$1
shift
if [ ! -f "results/$study/dated" ]; then # results must be younger than the text that they are made from
    data=(results/data*)
    find "results/$study" "${data[@]}" -type f -exec touch -d 2026-01-01 {} +
    touch "results/$study/dated"
fi
for part in "$here"/*.tar.xz; do tar xJf "$part"; done
read -ra presets <"$here/presets"
.venv/bin/snakemake --cores 2 --configfile "${presets[@]}" --rerun-triggers mtime "$@"
