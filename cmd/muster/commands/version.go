package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// release is the version of a release build; empty in any other build.
var release string

// versionCommand prints what this binary was built from.
func versionCommand() *cobra.Command {
	output := "text"
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of Muster and of its components",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			return printVersion(cmd.OutOrStdout(), versionOf(info), output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", output, "Output format: text or json.")
	return cmd
}

// helpOrVersion prints what this binary was built from, or the help of the command.
func helpOrVersion(cmd *cobra.Command, version bool) error {
	if !version {
		return cmd.Help()
	}
	info, _ := debug.ReadBuildInfo()
	return printVersion(cmd.OutOrStdout(), versionOf(info), "text")
}

// buildVersion describes the source of a binary. Its JSON form is the output of "muster version -o json".
type buildVersion struct {
	// Version is the release, or "unreleased".
	Version string `json:"version"`
	// Revision is the commit; empty where the build did not record it.
	Revision string `json:"revision,omitempty"`
	// Modified is true if the working tree had changes that were not committed.
	Modified bool `json:"modified"`
	// Kubernetes and ClusterAPI are the versions of these modules in the binary.
	Kubernetes string `json:"kubernetes,omitempty"`
	ClusterAPI string `json:"clusterAPI,omitempty"`
	Go         string `json:"go"`
	// Platform is the operating system and the architecture, as in linux/amd64.
	Platform string `json:"platform"`
}

// versionOf reads the build information; info is nil for a binary that has none.
func versionOf(info *debug.BuildInfo) buildVersion {
	if info == nil {
		info = &debug.BuildInfo{}
	}
	v := buildVersion{Version: info.Main.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	switch {
	case release != "":
		v.Version = release
	case v.Version == "" || v.Version == "(devel)":
		v.Version = "unreleased"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	for _, d := range info.Deps {
		switch d.Path {
		case "k8s.io/kubernetes":
			v.Kubernetes = d.Version
		case "sigs.k8s.io/cluster-api":
			v.ClusterAPI = d.Version
		}
	}
	return v
}

// printVersion writes v as text or as JSON.
func printVersion(w io.Writer, v buildVersion, output string) error {
	switch output {
	case "text":
		_, err := io.WriteString(w, v.text())
		return err
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	default:
		return fmt.Errorf("--output: want text or json, found %q", output)
	}
}

// text returns one line for Muster and one for each component whose version is known.
func (v buildVersion) text() string {
	muster := v.Version
	if v.Revision != "" {
		muster += ", revision " + v.Revision[:min(len(v.Revision), 12)]
	}
	if v.Modified {
		muster += ", modified"
	}
	var text strings.Builder
	for _, row := range [][2]string{{"muster", muster}, {"kubernetes", v.Kubernetes}, {"cluster-api", v.ClusterAPI},
		{"go", v.Go + " " + v.Platform}} {
		if row[1] != "" {
			fmt.Fprintf(&text, "%-11s %s\n", row[0], row[1])
		}
	}
	return text.String()
}
