#!/usr/bin/env bash
# save.sh STUDY NUMBER: packs what this checkout has of a study and no part has yet, without weights, as STUDY/NUMBER.tar.xz.
set -eu
shopt -s nullglob
study=$1 parts=$(dirname "$0")/$1
trained=(results/"$study"/models/*/train.log) # of other models there may be unfinished files
made=()
for kind in transfer contextual analyses benchmarks; do made+=(results/"$study"/$kind*); done
find "${made[@]}" "${trained[@]%/train.log}" -type f -not -name '*.safetensors' |
    sort | grep -vxFf <(for part in "$parts"/../*/*.tar.xz; do tar tJf "$part"; done) |
    tar cJf "$parts/$2.tar.xz" -T -
tar tJf "$parts/$2.tar.xz" | cut -d/ -f3 | sort | uniq -c
