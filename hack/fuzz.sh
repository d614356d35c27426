#!/usr/bin/env bash
# Runs every fuzz target for some time each, one after the other: hack/fuzz.sh [seconds] [package path prefix].
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-30}
under=${2:-.}

# Only packages that have a target are built. What is merely new is hardly made smaller: that takes most of the time, and a
# run that ends in it counts as failed.
dirs=$(grep -rl --include='*_test.go' '^func Fuzz' "$under" | xargs -r -n1 dirname | sed 's|^\(\./\)*|./|' | sort -u)
failed=()
for dir in $dirs; do
	for target in $(go test -list '^Fuzz' "$dir" | grep '^Fuzz'); do
		printf '%s %s\n' "$dir" "$target"
		if ! go test -run '^$' -fuzz "^$target\$" -fuzztime "${seconds}s" -fuzzminimizetime 10x -parallel 2 "$dir" | tail -n 30; then
			failed+=("$dir $target")
		fi
	done
done
if [ ${#failed[@]} -gt 0 ]; then
	printf 'failed, with the input beside the test in testdata/fuzz:\n' >&2
	printf '  %s\n' "${failed[@]}" >&2
	exit 1
fi
