#!/usr/bin/env bash
# run.sh SECONDS OUT: see README.md. SHARE: jobs on the GPU; WEIGHTS: models whose weights to copy to OUT.
set -u
out=$2 end=$((SECONDS + $1)) here=$(dirname "$0") python=${PYTHON:-python3}
if [ -f .gpu/site.tar.xz ]; then
    [ -d .gpu/site ] || { mkdir .gpu/site && tar xJf .gpu/site.tar.xz -C .gpu/site; }
    export PYTHONPATH=$PWD/.gpu/site
fi
export XLING_DATA=$PWD/.gpu/data XLING_COMMIT=$(cat .gpu/commit) XLING_GPU_SHARE=${SHARE:-16} PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1
export GIT_DIR=/nonexistent # the copy may have the git data of another commit
$python "$here/pack.py" --unpack .gpu || exit 1
echo "laid out after $SECONDS s"

wave() { # one Snakemake per wave; returns once it ends or all of its trainings have begun, so that the next wave fills the GPU
    local study=$(cut -d/ -f2 <<<"$2")
    echo "[$(date +%T)] wave $1: $(wc -w <<<"$2") targets of $study"
    if [ ! -d "results/$study" ]; then # the same text
        mkdir "results/$study"
        (cd results/mini-next && cp -al bpe vocab tasks parallel tatoeba links tokenisers dictionary corpus "../$study")
    fi
    $python -m snakemake --cores 64 --resources gpu="$XLING_GPU_SHARE" --nolock --keep-going --scheduler greedy \
        --rerun-triggers mtime --rerun-incomplete --quiet rules host progress reason \
        --configfile $(cat "results/parts/$study/presets") -- $2 >".gpu/wave$1.log" 2>&1 &
    local pid=$! target log
    for target in $(tr ' ' '\n' <<<"$2" | grep train.log); do
        log=results/$study/logs/pretrain/$(basename "$(dirname "$target")").log
        until [ -s "$log" ] || ! kill -0 $pid 2>/dev/null; do sleep 1; done
    done
}
drive() { # starts the waves of .gpu/queue, one per line, also those that a later call adds
    local number=0 line
    while sleep 1; do
        line=$(sed -n "$((number + 1))p" .gpu/queue)
        [ "$line" ] || continue
        number=$((number + 1))
        wave $number "$line"
    done
}
touch .gpu/targets.txt && cat .gpu/targets.txt >>.gpu/queue && rm .gpu/targets.txt
if [ ! -f .gpu/begun ]; then
    nvidia-cuda-mps-control -d || true
    touch .gpu/begun
    export -f wave drive
    export python
    setsid nohup bash -c drive >.gpu/driver.log 2>&1 &
fi
while [ $SECONDS -lt $end ]; do sleep 1; done
cat .gpu/driver.log
grep -h -A 3 "^Error in rule\|Exception" .gpu/wave*.log | head -n 20
for log in results/mini-*/logs/pretrain/*.log; do echo "$(basename "$log" .log) $(tail -n 1 "$log" | cut -c27-110)"; done
ls results/mini-*/transfer/*/xnli.json results/mini-*/contextual/*.json results/mini-*/analyses/*.json 2>/dev/null | cut -d/ -f2- | tr '\n' ' '
mkdir -p "$out"
find results/mini-* \( -path '*/models/*' -o -path '*/transfer/*' -o -path '*/contextual/*' -o -path '*/analyses/*' -o -path '*/benchmarks/*' -o -path '*/logs/*' \) \
    -type f -newer .gpu/begun -not -name '*.safetensors' -print0 | tar --null -T - -cf - | xz -2 -T4 >"$out/part.tar.xz"
for model in ${WEIGHTS:-}; do split -b 15M "results/mini-next/models/$model/model.safetensors" "$out/$model."; done # cat MODEL.a? makes it whole
echo "$(stat -c %s "$out/part.tar.xz") bytes; $SECONDS s"
