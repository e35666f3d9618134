#!/usr/bin/env bash
# Fetches the libraries of the report page from npm and puts them where they are compiled in, licences beside them.
# Only files whose SHA-256 is the one stated here are taken; with --check the files that are there are compared instead.
set -euo pipefail
cd "$(dirname "$0")/../src/report/assets"

# file here, package, version, file in the package, SHA-256
files="
echarts/echarts.min.js echarts 6.1.0 dist/echarts.min.js b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0
echarts/LICENSE        echarts 6.1.0 LICENSE             634293835b43a6dd2094fa39182a3d9a6b9ca43b7fdb9ac354e8037af2a3093a
echarts/LICENSE-d3     echarts 6.1.0 licenses/LICENSE-d3 e1211892da0b0e0585b7aebe8f98c1274fba15bafe47fa1f4ee8a7a502c06304
echarts/NOTICE         echarts 6.1.0 NOTICE              d491d358344f842685c1b1585970999db65fe30ecf7ef3867af8814f4016c016
diff/diff.min.js       diff    9.0.0 dist/diff.min.js    b51a9d2885f2c090dc97b981027395f7e7e6558a46c75ae3747db267913a89ab
diff/LICENSE           diff    9.0.0 LICENSE             eda81a415869e67809f6a9f3fd6056062cb83a462118e07eec5e92b2e0c40ce9
"

check() { [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$2" ] || { echo "assets: $3 has another SHA-256 than this script states" >&2; exit 2; }; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
while read -r here package version inside sha; do
  [ -n "$here" ] || continue
  if [ "${1:-}" = --check ]; then check "$here" "$sha" "$here"; continue; fi
  if [ ! -d "$work/$package" ]; then
    (cd "$work" && npm pack --silent "$package@$version" >/dev/null && mkdir "$package" && tar xzf "$package-$version.tgz" -C "$package")
  fi
  check "$work/$package/package/$inside" "$sha" "$inside of $package $version"
  mkdir -p "$(dirname "$here")"
  install -m 644 "$work/$package/package/$inside" "$here"
done <<< "$files"
echo "assets: every checksum holds" >&2
