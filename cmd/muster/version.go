package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionCommand prints what this binary was built from.
func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of Muster and of what it holds",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return helpOrVersion(cmd, true) },
	}
}

// helpOrVersion prints what this binary was built from, or the help of the command.
func helpOrVersion(cmd *cobra.Command, version bool) error {
	if !version {
		return cmd.Help()
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), builtFrom())
	return err
}

// builtFrom returns what "muster version" and "muster --version" print about this binary.
func builtFrom() string {
	info, _ := debug.ReadBuildInfo()
	return versions(info)
}

// versions words the build information; info is nil for a binary that carries none.
func versions(info *debug.BuildInfo) string {
	if info == nil {
		info = &debug.BuildInfo{}
	}
	muster := info.Main.Version
	if muster == "" || muster == "(devel)" {
		muster = "unreleased"
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && s.Value != "":
			muster += ", revision " + s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			muster += ", modified"
		}
	}
	text := fmt.Sprintf("muster      %s\n", muster)
	for _, m := range []struct{ name, path string }{{"kubernetes", "k8s.io/kubernetes"}, {"cluster-api", "sigs.k8s.io/cluster-api"}} {
		for _, d := range info.Deps {
			if d.Path == m.path {
				text += fmt.Sprintf("%-11s %s\n", m.name, d.Version)
			}
		}
	}
	return text + fmt.Sprintf("go          %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
