#!/usr/bin/env bash
# Before a sitting, on a machine with the data: prepare.sh DATA [CORES]
# Makes the text of the study with the code that all parts come from, and packs it into .gpu/all. About fifteen minutes
# on two cores. Python packages that the GPU machine lacks are .gpu/site.tar.xz, made by hand.
set -eu
data=$1 cores=${2:-2} here=$(cd "$(dirname "$0")" && pwd) python=$PWD/.venv/bin/python
mkdir -p .gpu
[ -d .gpu/tree ] || { git clone -q . .gpu/tree && git -C .gpu/tree checkout -q "$(cat "$here/commit")"; }
cp "$here/commit" .gpu/commit
(cd .gpu/tree && XLING_DATA=$data PATH=$(dirname "$python"):$PATH "$python" -m snakemake --cores "$cores" --rerun-incomplete \
    --configfile presets/mini.yaml presets/overlays/two-seeds.yaml \
    --omit-from encode_text pretrain write_untrained transfer_contextual)
names="heads base dictionary en.wiki fr.wiki de.wiki ru.wiki zh.wiki fr.crawl ru.crawl zh.crawl"
for name in $names; do echo "$name"; done |
    xargs -P "$cores" -I{} "$python" "$here/pack.py" .gpu/tree/results/mini "$data" .gpu/all {}
mkdir -p .gpu/targets
for sitting in analyses settings; do "$python" "$here/sittings.py" $sitting >.gpu/targets/$sitting; done
