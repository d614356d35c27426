package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muster-project/muster/test/browser"
	"github.com/muster-project/muster/test/e2e/world"
)

// TestScreenshots takes the pictures of the README: a rollout that is under way, in light and in dark. make screenshots runs it.
func TestScreenshots(t *testing.T) {
	if os.Getenv(browser.Screenshots) == "" {
		t.Skip("takes pictures: run make screenshots")
	}
	manifest, err := os.ReadFile("../../docs/rollouts/pool.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pool.yaml")
	if err := os.WriteFile(file, bytes.ReplaceAll(manifest, []byte("${REPLICAS:=10}"), []byte("6")), 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "muster-") // the page shows the name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b := browser.Open(t, 1280, 960)
	w := world.Start(t, dir, "-f", file)
	page := w.Printed(`(?m)\APage: (\S+)$`)
	w.Ready(rolloutPool, 6)
	w.ApplyTo(rolloutCluster, strings.NewReplacer("replicas: 5", "replicas: 6", "minAvailable: 5", "minAvailable: 6").Replace(budgetManifest))
	w.Workload(rolloutCluster, "wait", "deployment/web", "--for=condition=Available", "--timeout", world.WaitLimit.String())
	b.Resize(1280, 960)
	b.Go(page + "pools/default/" + rolloutPool)
	b.WaitText("6 of 6 machines are Ready")
	w.Kubectl("patch", "awsmachinepool/"+rolloutPool, "--type=merge", "-p", `{"spec":{"awsLaunchTemplate":{"instanceType":"m5.xlarge"}}}`)
	// The budget holds the rollout at a point that the pictures show.
	b.Wait("document.querySelectorAll('.tile.ready.new').length >= 2 && document.querySelector('.tile.draining.old')")
	b.WaitText("PodDisruptionBudget web")
	// The window ends below the machines.
	b.Resize(1280, 16+browser.Eval[int](b,
		"Math.ceil(document.querySelector(\"[aria-labelledby='h-machines']\").getBoundingClientRect().bottom)"))
	for _, look := range []struct {
		name string
		dark bool
	}{{"page-light", false}, {"page-dark", true}} {
		b.Dark(look.dark)
		b.Picture(look.name)
	}
}
