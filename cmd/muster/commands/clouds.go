package commands

import (
	"strings"

	"k8s.io/kubectl/pkg/util/term"

	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/all"
)

// helpWidth is the line width in the help of commands.
const helpWidth = 126

// examples returns the clouds' examples for the help of a command.
func examples(of func(clouds.Help) string) string {
	var texts []string
	for _, c := range all.Clouds() {
		if text := of(c.Help); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ", ")
}

// planExamples returns examples of edits for "muster plan", a line for each cloud.
func planExamples() string {
	var lines strings.Builder
	for _, c := range all.Clouds() {
		lines.WriteString("  muster plan " + c.Help.Plan + "\n")
	}
	return lines.String()
}

// builtinPools lists what the built-in pools of all clouds are.
func builtinPools() string {
	var text strings.Builder
	for i, p := range all.Accounts(simulatedClouds...).BuiltinPools() {
		if i == 0 {
			text.WriteString(p.Name + " is " + p.About)
		} else {
			text.WriteString(", " + p.Name + " " + p.About)
		}
	}
	return text.String()
}

// wrapped breaks the lines of a paragraph.
func wrapped(paragraph string) string {
	var text strings.Builder
	_, _ = term.NewWordWrapWriter(&text, helpWidth).Write([]byte(paragraph))
	return text.String()
}
