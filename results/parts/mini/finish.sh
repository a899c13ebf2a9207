#!/usr/bin/env bash
# When all parts are there: finish.sh DATA [SNAKEMAKE_OPTION…], with -n to see what is left to do (no GPU job may be)
# Goes on in .gpu/tree, where prepare.sh left the text. What the text stages made is dated a month back, once, because the
# parts rest on it and may have been made before. TARGETS takes the place of the report, while parts are missing.
set -eu
data=$1 here=$(cd "$(dirname "$0")" && pwd) python=$PWD/.venv/bin/python
shift
export XLING_DATA=$data PATH=$(dirname "$python"):$PATH
cd .gpu/tree
study() { "$python" -m snakemake --cores 2 --configfile presets/mini.yaml presets/overlays/two-seeds.yaml "$@"; }
if [ ! -f text-dated ]; then
    study --omit-from pretrain write_untrained transfer_contextual --rerun-triggers mtime
    "$python" - <<'MONTH'
import os
from pathlib import Path

for path in Path("results/mini").rglob("*"):
    if path.is_file():
        times = path.stat()
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns - 30 * 86_400 * 10**9))
MONTH
    touch text-dated
fi
for part in "$here"/[0-9]*.tar.xz; do tar xJf "$part" --exclude='.gpu/*'; done
# The copy that made part 1 had the git data of an earlier commit, which differs in reports and documents alone.
for file in $(grep -l 1013fa3bd6011b31fa6af05f36e179caf300c539 results/mini/models/*/provenance.json); do
    sed "s/1013fa3bd6011b31fa6af05f36e179caf300c539/$(cat "$here/commit")/" "$file" >provenance.new
    touch -r "$file" provenance.new
    mv provenance.new "$file"
done
study --rerun-triggers mtime "$@" -- ${TARGETS:-report_page}
