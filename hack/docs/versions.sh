#!/usr/bin/env bash
# versions.sh FOLDER writes which versions of the site the folder holds, newest first, for the menu of each version, and the page that leads
# to the newest release.
set -euo pipefail
cd "$1"

mapfile -t versions < <(for folder in */index.html; do dirname "$folder"; done | sort --version-sort --reverse)
mapfile -t releases < <(printf '%s\n' "${versions[@]}" | grep -E '^v[0-9]+\.[0-9]+\.[0-9]+$' || true)
newest=${releases[0]:-${versions[0]}}

{
	printf 'window.versions = ['
	printf '"%s",' "${versions[@]}"
	printf '];\n'
} >versions.js
cat >index.html <<PAGE
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>Muster</title>
<meta http-equiv="refresh" content="0; url=$newest/index.html">
<a href="$newest/index.html">Muster $newest</a>
PAGE
touch .nojekyll # the files are served as they are
