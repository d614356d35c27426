{{- /* One entry a section: page, anchor, heading, text. */ -}}
{{- $index := slice -}}
{{- range site.Pages -}}
  {{- $page := partial "title.html" . -}}
  {{- $address := strings.TrimPrefix "/" .RelPermalink -}}
  {{- range $i, $part := split .Content `<h2 id="` -}}
    {{- $anchor := "" }}{{ $heading := "" }}{{ $text := $part -}}
    {{- if gt $i 0 -}}
      {{- $anchor = index (split $part `"`) 0 -}}
      {{- $heading = index (split (substr $part (add (len $anchor) 2)) "<a class") 0 | plainify | htmlUnescape | strings.TrimSpace -}}
      {{- $text = replaceRE `^[^\n]*\n` "" $part 1 -}}
    {{- end -}}
    {{- $plain := $text | plainify | htmlUnescape -}}
    {{- $index = $index | append (dict "page" $page "address" $address "anchor" $anchor "heading" $heading "text" (replaceRE `\s+` " " $plain)) -}}
  {{- end -}}
{{- end -}}
window.searchIndex = {{ $index | jsonify }};
