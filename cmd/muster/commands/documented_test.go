package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// documented is a command line of muster in a document: in a block of code, or between marks of code.
	documented = regexp.MustCompile("(?m)(?:^(?:\\$ )?|`)(?:muster|go run \\./cmd/muster) ([^`\n]+)")
	// argument is an argument as a shell takes it apart.
	argument = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)
)

// TestDocumentedCommands holds that muster takes the commands of the documents: their names, flags and numbers of arguments.
func TestDocumentedCommands(t *testing.T) {
	files, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range append(files, "../../../README.md", "../../../CONTRIBUTING.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range documented.FindAllStringSubmatch(string(text), -1) {
			args := argumentsOf(line[1])
			if len(args) == 0 || !regexp.MustCompile(`^[a-z]+$`).MatchString(args[0]) || args[0] == "kubectl" {
				continue
			}
			found++
			if err := accept(args); err != nil {
				t.Errorf("%s: muster %s: %v", file, line[1], err)
			}
		}
	}
	if found < 40 {
		t.Errorf("want the commands of all documents, found %d", found)
	}
}

// argumentsOf returns the arguments of a command up to a comment, a pipe or a file that it writes.
func argumentsOf(command string) []string {
	var out []string
	for _, w := range argument.FindAllString(command, -1) {
		if slices.Contains([]string{"|", ">", "&", "&&", `\`}, w) || strings.HasPrefix(w, "#") {
			break
		}
		out = append(out, strings.NewReplacer("'", "", `"`, "").Replace(w))
	}
	return out
}

// accept returns why muster would not begin a command with such arguments. Text names commands without what they are about.
func accept(args []string) error {
	all := root()
	all.InitDefaultCompletionCmd(args...)
	cmd, rest, err := all.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if positional := cmd.Flags().Args(); len(positional) > 0 {
		return cmd.ValidateArgs(positional)
	}
	return nil
}
