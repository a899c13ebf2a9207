#!/usr/bin/env bash
# Works through a queue that go.sh writes: driver.sh QUEUE, each line a file with targets of Snakemake and what lies on top
# of mini (a second seed if it does not say). Targets that fail are tried once more. Where it stopped before is kept.
queue=$1
python=${PYTHON:-python3}
finished=$(cat "$queue.done" 2>/dev/null || echo 0)
while line=$(sed -n "$((finished + 1))p" "$queue") && [ -n "$line" ]; do
    read -r file overlays <<<"$line"
    for attempt in 1 2; do
        echo "[$(date +%T)] $line, attempt $attempt"
        first=$(grep '^!' "$file" | tr -d '!')
        $python -m snakemake --cores "${CORES:-16}" --resources gpu="$XLING_GPU_SHARE" --nolock --keep-going --scheduler greedy \
            --rerun-triggers mtime --rerun-incomplete --quiet rules host progress \
            --configfile presets/mini.yaml ${overlays:-presets/overlays/two-seeds.yaml} \
            ${first:+--prioritize $first} -- $(tr -d '!' <"$file") && break
    done
    echo "[$(date +%T)] $line done"
    finished=$((finished + 1))
    echo "$finished" >"$queue.done"
done
