#!/usr/bin/env bash
# Works through the queue of targets that go.sh writes: a file with targets of Snakemake a line, one group after the
# other. A group that fails is tried once more.
work=$1 next=1
python=${PYTHON:-python3}
while file=$(sed -n "${next}p" "$work/queue") && [ -n "$file" ]; do
    for attempt in 1 2; do
        echo "[$(date +%T)] $file, attempt $attempt"
        first=$(grep '^!' "$file" | tr -d '!')
        $python -m snakemake --cores "${CORES:-16}" --resources gpu="$XLING_GPU_SHARE" --nolock --keep-going --scheduler greedy \
            --rerun-triggers mtime --rerun-incomplete --quiet rules host progress \
            --configfile presets/mini.yaml presets/overlays/two-seeds.yaml ${OVERLAY:-} \
            ${first:+--prioritize $first} -- $(tr -d '!' <"$file") && break
    done
    echo "[$(date +%T)] $file done"
    next=$((next + 1))
done
