#!/usr/bin/env bash
# Fills a small file system while a run writes to it: the run must stop with exit code 2 and one clear message,
# (a failure to save that is only a warning is a fault of lm-evaluation-harness's tracker);
# what was complete must stay readable, and the same command must finish once there is space. Needs root (mount).
# usage: full-disk.sh SAGO
set -euo pipefail
sago=$1
disk=$(mktemp -d)
cleanup() { umount "$disk" 2>/dev/null || true; rmdir "$disk"; }
trap cleanup EXIT
mount -t tmpfs -o size=2m tmpfs "$disk"
run() { "$sago" run --model demo --dataset alpaca -n 3 --subtypes spacing --max-new-tokens 4 --encoder none --quiet --out "$disk/run"; }

set +e
message=$(run 2>&1 >/dev/null); code=$?
set -e
echo "full disk: exit code $code: $message"
[ $code = 2 ] || { echo "full disk: expected exit code 2"; exit 1; }
grep -qi "no space left" <<<"$message" || { echo "full disk: the message does not say why"; exit 1; }
grep -q "panicked" <<<"$message" && { echo "full disk: it panicked"; exit 1; }
[ ! -e "$disk/run/manifest.json" ] || { echo "full disk: the run calls itself complete"; exit 1; }
kept=$(find "$disk/run" -name 'part-*.parquet' -path '*work*' | wc -l)

mount -o remount,size=200m "$disk"
run >/dev/null
[ -e "$disk/run/manifest.json" ] || { echo "full disk: the run did not finish with more space"; exit 1; }
echo "full disk: $kept units were kept, and the run finished with more space"
echo "1 passed, 0 failed"
