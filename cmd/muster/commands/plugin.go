package commands

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const (
	// pluginName is the file name by which kubectl finds its plugin "muster", and pluginCompletion the one of the plugin's completion.
	pluginName, pluginCompletion = "kubectl-muster", "kubectl_complete-muster"
	// pluginCommand calls the plugin.
	pluginCommand = "kubectl muster"
)

// asPlugin makes root and its arguments those of kubectl's plugin if the binary was called by such a name. kubectl calls
// kubectl_complete-muster with the words to complete, and reads what cobra's own completion command prints.
func asPlugin(root *cobra.Command, arg0 string, args []string) []string {
	switch calledAs(arg0) {
	case pluginName:
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: pluginCommand}
		nameExamples(root)
	case pluginCompletion:
		return slices.Concat([]string{cobra.ShellCompRequestCmd}, args)
	}
	return args
}

// nameExamples has the examples of a command, and of those below it, begin as users of the plugin type them.
func nameExamples(cmd *cobra.Command) {
	cmd.Example = exampleBegin.ReplaceAllString(cmd.Example, "${1}"+pluginCommand+" ")
	for _, sub := range cmd.Commands() {
		nameExamples(sub)
	}
}

// exampleBegin matches the name of the command at the begin of a line of examples.
var exampleBegin = regexp.MustCompile(`(?m)^(  )muster `)

// calledAs returns the file name of the binary, without the extension that Windows has.
func calledAs(arg0 string) string { return strings.TrimSuffix(filepath.Base(arg0), ".exe") }
