#!/usr/bin/env bash
# A sitting on a GPU machine: go.sh SECONDS OUT [TARGETS_FILE [OVERLAY…]]
# Lays out what was carried, starts Snakemake in the background if it does not run (it outlives this call), waits, and
# writes all results so far, without data and weights, to OUT/part.tar.xz. The folder .gpu holds what was carried:
# site.tar.xz (Python packages the machine lacks), packs/, heads.tar.xz and commit. Targets wait for those before them in
# the same QUEUE; queues run beside each other, each with jobs for SHARE of a GPU.
set -u
seconds=$1 out=$2 queue=${QUEUE:-first}
shift 2
end=$((SECONDS + seconds))
here=$(dirname "$0") work=.gpu/work
python=${PYTHON:-python3}
mkdir -p $work "$out"
if [ -f .gpu/site.tar.xz ] && [ ! -d $work/site ]; then mkdir $work/site && tar xJf .gpu/site.tar.xz -C $work/site; fi
[ -d $work/site ] && export PYTHONPATH=$PWD/$work/site
export XLING_DATA=$PWD/$work/data XLING_COMMIT=$(cat .gpu/commit) XLING_GPU_SHARE=${SHARE:-8} PYTHONUNBUFFERED=1
export GIT_DIR=/nonexistent # the copy may have the git data of another commit
$python "$here/unpack.py" .gpu/packs results/mini "$XLING_DATA" .gpu/heads.tar.xz || exit 1
echo "laid out after $SECONDS s"
[ -f $work/begun ] || touch $work/begun
runs() { kill -0 "$(cat "$1")" 2>/dev/null; }
if [ $# -gt 0 ]; then
    if command -v nvidia-cuda-mps-control >/dev/null && [ ! -f $work/mps ]; then
        nvidia-cuda-mps-control -d && touch $work/mps
        setsid nohup nvidia-smi dmon -s um -d 5 >$work/dmon.log 2>&1 &
    fi
    echo "$*" >>$work/$queue.queue
    if ! runs $work/$queue.pid; then
        setsid nohup bash "$here/driver.sh" $work/$queue.queue >>$work/$queue.log 2>&1 &
        echo $! >$work/$queue.pid
    fi
fi
while [ $SECONDS -lt $end ]; do
    for pid in $work/*.pid; do runs "$pid" && break; done || break
    sleep 1
done
for log in $work/*.log; do echo "== $log" && tail -n 12 "$log"; done
[ -f $work/mps ] && echo "MPS servers: $(echo get_server_list | nvidia-cuda-mps-control)"
find results/mini* -type f -newer $work/begun \( -name '*.json' -o -name '*.jsonl' -o -name '*.log' -o -name '*.tsv' \) \
    -not -path '*/work/*' -not -path '*/streams/*' >$work/list
ls $work/*.log 2>/dev/null >>$work/list
tar -T $work/list -cf - | xz -2 -T4 >"$out/part.tar.xz"
echo "brought $(wc -l <$work/list) files, $(stat -c %s "$out/part.tar.xz") bytes; $SECONDS s"
