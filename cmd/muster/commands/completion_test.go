package commands

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// completionServer serves names of objects by the path of their list, and the kubeconfig of a client of it.
func completionServer(t *testing.T, lists map[string][]string) (kubeconfig string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		names, known := lists[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		var list metav1.PartialObjectMetadataList
		list.APIVersion, list.Kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
		for _, name := range names {
			o := metav1.PartialObjectMetadata{}
			o.Name = name
			list.Items = append(list.Items, o)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "an old version"`)
		if err := json.NewEncoder(w).Encode(list); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	content := `{"apiVersion": "v1", "kind": "Config", "current-context": "b", "contexts": [
		{"name": "b", "context": {"cluster": "c", "namespace": "team-a"}}, {"name": "a", "context": {"cluster": "c"}}],
		"clusters": [{"name": "c", "cluster": {"server": "` + server.URL + `"}}]}`
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// completed returns what the shell is offered, with the directive as the last line, and what is printed for the user.
func completed(t *testing.T, kubeconfig string, args ...string) (lines []string, complaints string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{cobra.ShellCompNoDescRequestCmd}, args...)...)
	cmd.Env = append(os.Environ(), asMuster+"=1", "KUBECONFIG="+kubeconfig)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, &errs)
	}
	for line := range strings.Lines(errs.String()) {
		if !strings.HasPrefix(line, "Completion ended with directive") {
			complaints += line
		}
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), complaints
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	const infra = "/apis/infrastructure.cluster.x-k8s.io/v1beta2/namespaces/team-a/"
	kubeconfig := completionServer(t, map[string][]string{
		"/apis/cluster.x-k8s.io/v1beta2/namespaces/team-a/machinepools": {"web", "workers"},
		"/apis/cluster.x-k8s.io/v1beta2/namespaces/team-b/machinepools": {"other"},
		"/apis/cluster.x-k8s.io/v1beta2/namespaces/team-a/clusters":     {"prod"},
		infra + "awsmachinepools":                                       {"web"},
		"/api/v1/namespaces":                                            {"default", "team-a"},
	})
	for _, c := range []struct {
		why, args, want string
	}{
		{"a kind comes first", "plan m", "machinepool/ :6"},
		{"names of a kind", "plan machinepool/", "machinepool/web machinepool/workers :4"},
		{"that begin with what was typed", "plan machinepool/wo", "machinepool/workers :4"},
		{"a short name stays", "adopt mp/", "mp/web mp/workers :4"},
		{"an infrastructure kind with its group", "plan awsmachinepools.infrastructure.cluster.x-k8s.io/",
			"awsmachinepools.infrastructure.cluster.x-k8s.io/web :4"},
		{"KIND NAME", "tree cluster ", "prod :4"},
		{"a Cluster has no plan", "plan cluster/", ":4"},
		{"nothing follows KIND/NAME", "plan mp/web ", ":4"},
		{"the namespace of the flag", "plan -n team-b mp/", "mp/other :4"},
		{"a kind that the server does not serve", "plan gcpmachinepool/", ":4"},
		{"pools of a rollout", "rollout status machinepool/w", "machinepool/web machinepool/workers :4"},
		{"clusters of a Node", "rollout hold --cluster ", "prod :4"},
		{"namespaces", "plan --namespace t", "team-a :4"},
		{"contexts", "tree --context ", "a b :4"},
		{"formats", "tree -o ", "text json :4"},
		{"formats of another command", "generate iam -o ", "json table :4"},
		{"a list of clouds goes on", "up --clouds aws,g", "aws,gcp :6"},
		{"and has none twice", "sim --clouds aws,aw", ":6"},
		{"built-in pools of the clouds", "up --clouds gcp --pools capg-g", "capg-gke-mp-0 :6"},
		{"feature gates", "plan --feature-gates MachinePoolM", "MachinePoolMachines=true MachinePoolMachines=false :6"},
		{"files", "plan -f ", ":0"},
		{"folders", "up --dir ", ":16"},
		{"a number", "up --port ", ":4"},
		{"a command without arguments", "doctor ", ":4"},
	} {
		lines, complaints := completed(t, kubeconfig, strings.Split(c.args, " ")...)
		if got := strings.Join(lines, " "); got != c.want || complaints != "" {
			t.Errorf("%s: %q: want %q and nothing else, got %q: %s", c.why, c.args, c.want, got, complaints)
		}
	}
}

// TestCompletionWithoutServer holds that a shell gets kinds, no names and no error where no server answers.
func TestCompletionWithoutServer(t *testing.T) {
	t.Parallel()
	for why, kubeconfig := range map[string]string{"no kubeconfig": filepath.Join(t.TempDir(), "none"),
		"a server that refuses": completionServer(t, nil)} {
		if lines, complaints := completed(t, kubeconfig, "plan", "machinepool/"); !slices.Equal(lines, []string{":4"}) || complaints != "" {
			t.Errorf("%s: want nothing, got %q: %s", why, lines, complaints)
		}
		if lines, _ := completed(t, kubeconfig, "tree", ""); lines[0] != "cluster/" || len(lines) < 10 {
			t.Errorf("%s: want the kinds all the same, got %q", why, lines)
		}
	}
}

// TestEveryFlagIsCompleted holds that no flag offers the files of the folder where no file is wanted.
func TestEveryFlagIsCompleted(t *testing.T) {
	t.Parallel()
	all := root()
	addCompletion(all)
	found := 0
	for _, cmd := range append(all.Commands(), all.Commands()[0].Commands()...) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, set := cmd.GetFlagCompletionFunc(f.Name); !set && f.Value.Type() != "bool" {
				t.Errorf("%s: want a completion of --%s", cmd.Name(), f.Name)
			}
			found++
		})
	}
	if found < 30 {
		t.Errorf("want the flags of all commands, found %d", found)
	}
}

// TestPlugin holds what kubectl finds and calls.
func TestPlugin(t *testing.T) {
	t.Parallel()
	kubeconfig := completionServer(t, map[string][]string{"/apis/cluster.x-k8s.io/v1beta2/namespaces/team-a/machinepools": {"web"}})
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why, name, args, want string
	}{
		{"the usage has the command that users type", pluginName, "tree --help",
			"Usage:\n  kubectl muster tree [KIND/NAME] [flags]\n\nExamples:\n  kubectl muster tree\n"},
		{"an error too", pluginName, "bogus", `unknown command "bogus" for "kubectl muster"`},
		{"its commands run", pluginName, "version", "muster "},
		{"completion of commands", pluginCompletion, "pla", "plan\t"},
		{"completion of names", pluginCompletion, "plan machinepool/", "machinepool/web\n:4"},
	} {
		file := filepath.Join(dir, c.name)
		if err := os.Symlink(self, file); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
		cmd := exec.Command(file, strings.Split(c.args, " ")...)
		cmd.Env = append(os.Environ(), asMuster+"=1", "KUBECONFIG="+kubeconfig)
		if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), c.want) {
			t.Errorf("%s: want %q in\n%s", c.why, c.want, out)
		}
	}
}
