#!/usr/bin/env bash
# After mini's packs are laid out: the controlled studies share its text, and one of them its subwords.
set -eu
mkdir -p results/mini-exposure results/mini-merges
for part in text tokenised corpus tatoeba parallel links; do
    [ -d results/mini/$part ] || continue # on the GPU machine corpora alone
    for study in exposure merges; do cp -al results/mini/$part results/mini-$study/; done
done
for part in bpe vocab; do cp -al results/mini/$part results/mini-exposure/; done
