#!/usr/bin/env bash
# Fails when generated files or modules differ from what the sources say.
set -euo pipefail
cd "$(dirname "$0")/.."

hack/generate.sh
go mod tidy
changed=$(git status --porcelain -- api cloud/oci docs/reference config charts sim/*/shapes go.mod go.sum)
if [ -n "$changed" ]; then
	printf 'these files differ from what "make generate" and "go mod tidy" make; run them and commit:\n%s\n' "$changed" >&2
	git --no-pager diff -- api cloud/oci docs/reference config charts sim/*/shapes go.mod go.sum | head -n 60 >&2
	exit 1
fi
echo "generated files and modules are as the sources say"
