#!/usr/bin/env bash
# run.sh SECONDS OUT: see README.md. START=no only lays out; SHARE: jobs on the GPU; WEIGHTS: models to copy to OUT.
set -u
seconds=$1 out=$2 end=$((SECONDS + $1)) here=$(dirname "$0") python=${PYTHON:-python3}
if [ -f .gpu/site.tar.xz ]; then
    [ -d .gpu/site ] || { mkdir .gpu/site && tar xJf .gpu/site.tar.xz -C .gpu/site; }
    export PYTHONPATH=$PWD/.gpu/site
fi
export XLING_DATA=$PWD/.gpu/data XLING_COMMIT=$(cat .gpu/commit) XLING_GPU_SHARE=${SHARE:-16} PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1
export GIT_DIR=/nonexistent # the copy may have the git data of another commit
$python "$here/pack.py" --unpack .gpu || exit 1
echo "laid out after $SECONDS s"
if [ "${START:-yes}" = yes ] && [ ! -f .gpu/snakemake.pid ]; then
    nvidia-cuda-mps-control -d || true
    touch .gpu/begun
    targets=$(cat .gpu/targets.txt)
    first=$(tr ' ' '\n' <.gpu/targets.txt | grep train.log | head -n 15)
    setsid nohup $python -m snakemake --cores 64 --resources gpu="$XLING_GPU_SHARE" --nolock --keep-going --scheduler greedy \
        --rerun-triggers mtime --rerun-incomplete --quiet rules host progress reason --prioritize $first \
        --configfile presets/mini.yaml presets/overlays/mini-next.yaml -- $targets >.gpu/snakemake.log 2>&1 &
    echo $! >.gpu/snakemake.pid
fi
[ "${START:-yes}" = yes ] || exit 0
while [ $SECONDS -lt $end ] && kill -0 "$(cat .gpu/snakemake.pid)" 2>/dev/null; do sleep 1; done
tail -n 5 .gpu/snakemake.log
for log in results/mini-next/logs/pretrain/*.log; do echo "$(basename "$log" .log) $(tail -n 1 "$log" | cut -c27-110)"; done
ls results/mini-next/transfer/*/xnli.json results/mini-next/contextual/*.json results/mini-next/analyses/*.json 2>/dev/null | cut -d/ -f3-
mkdir -p "$out"
find results/mini-next \( -path '*/models/*' -o -path '*/transfer/*' -o -path '*/contextual/*' -o -path '*/analyses/*' -o -path '*/benchmarks/*' -o -path '*/logs/*' \) \
    -type f -newer .gpu/begun -not -name '*.safetensors' -print0 | tar --null -T - -cf - | xz -2 -T4 >"$out/part.tar.xz"
for model in ${WEIGHTS:-}; do cp "results/mini-next/models/$model/model.safetensors" "$out/$model.safetensors"; done
echo "$(stat -c %s "$out/part.tar.xz") bytes; $SECONDS s"
