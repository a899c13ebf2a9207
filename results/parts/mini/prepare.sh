#!/usr/bin/env bash
# Before a sitting, on a machine with the data: prepare.sh DATA [CORES]
# Makes the text of the study and of the controlled ones beside it, with the code that all parts come from and with the
# overlays of today, and packs it into .gpu/all. A quarter of an hour and more on two cores. Python packages that the GPU machine
# lacks are .gpu/site.tar.xz, made by hand.
set -eu
data=$1 cores=${2:-2} here=$(cd "$(dirname "$0")" && pwd) python=$PWD/.venv/bin/python overlays=$PWD/presets/overlays
mkdir -p .gpu/targets
for sitting in analyses settings exposure merges web; do "$python" "$here/sittings.py" $sitting >.gpu/targets/$sitting; done
cp "$overlays"/mini-{exposure,merges,web}.yaml .gpu/targets/
[ -d .gpu/tree ] || { git clone -q . .gpu/tree && git -C .gpu/tree checkout -q "$(cat "$here/commit")"; }
cp "$here/commit" .gpu/commit
text() { # CONFIGFILE… -- TARGET…
    (cd .gpu/tree && XLING_DATA=$data PATH=$(dirname "$python"):$PATH "$python" -m snakemake --cores "$cores" --rerun-incomplete \
        --omit-from encode_text pretrain write_untrained transfer_contextual represent_encoder --rerun-triggers mtime \
        --configfile presets/mini.yaml "$@")
}
[ -f .gpu/tree/text-dated ] || text presets/overlays/two-seeds.yaml
[ -d .gpu/tree/results/mini-exposure ] || (cd .gpu/tree && bash "$here/share.sh")
for study in exposure merges web; do text "$overlays/mini-$study.yaml" -- $(cat .gpu/targets/$study); done
names="heads base dictionary en.wiki fr.wiki de.wiki ru.wiki zh.wiki fr.crawl ru.crawl zh.crawl mini-merges mini-web"
for name in $names; do echo "$name"; done |
    xargs -P "$cores" -I{} "$python" "$here/pack.py" .gpu/tree/results/mini "$data" .gpu/all {}
