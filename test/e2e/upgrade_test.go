package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/kube/infrapool/stored"

	"github.com/muster-project/muster/test/e2e/world"
)

const (
	// upgradeFrom names the environment variable with the revision that is upgraded from, in the place of the last release.
	upgradeFrom = "UPGRADE_FROM"
	// upgradeSpeed is the speed of the world.
	upgradeSpeed = "20"
	// fleetQuietFor is the time without any write after which a fleet is at rest: several passes of every controller.
	fleetQuietFor = 10 * time.Second
)

// fleet lists the pools of the world, one of every kind and mode, with their cluster.
var fleet = []struct{ object, pool, cluster string }{
	{"awsmachinepool/capa-mp-0", "capa-mp-0", "capa"},
	{"awsmanagedmachinepool/eks-mmp-0", "eks-mmp-0", "eks"},
	{"azuremachinepool/capz-mp-0", "capz-mp-0", "capz"},
	{"azuremachinepool/capz-flex-0", "capz-flex-0", "capz-flex"},
}

// TestUpgrade has the previous release make a pool of every kind, and this build take over: it writes nothing to the clouds and nothing but
// status and further look-ups to the objects, and replaces no machine.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	world.NeedsBinary(t)
	previous := buildPrevious(t)
	var pools []string
	for _, f := range fleet {
		pools = append(pools, f.pool)
	}
	dir, args := t.TempDir(), []string{"--clouds", "aws,azure", "--pools", strings.Join(pools, ","), "--speed", upgradeSpeed}
	old := world.StartOf(t, previous, dir, args...)
	fleetReady(old)
	fleetQuiet(old)
	before, lookups := fleetState(old), fleetLookups(old)
	if len(lookups) == 0 {
		t.Error("want look-ups remembered by the previous release")
	}
	old.Stop()

	now := world.Start(t, dir, args...)
	now.Eventually("the new controllers to look at both clouds", func() error {
		for _, c := range fleetCalls(now) {
			if c.Total == 0 {
				return errors.New("nothing was asked")
			}
		}
		return nil
	})
	fleetReady(now)
	fleetQuiet(now)
	for _, c := range fleetCalls(now) {
		if c.Mutating > 0 {
			t.Errorf("want no write to the cloud after the upgrade, got %s", c)
		}
	}
	if diff := cmp.Diff(before, fleetState(now)); diff != "" {
		t.Errorf("want nothing changed but status (-before +after the upgrade):\n%s", diff)
	}
	after := fleetLookups(now)
	for key, value := range lookups {
		if after[key] != value {
			t.Errorf("want the look-up %s to stay %s, got %s", key, value, after[key])
		}
	}
}

// buildPrevious builds muster of the last release before this commit, or of the revision that the environment names.
func buildPrevious(t *testing.T) string {
	t.Helper()
	revision := os.Getenv(upgradeFrom)
	if revision == "" {
		tag, err := exec.Command("git", "describe", "--tags", "--abbrev=0", "--match=v*", "HEAD^").Output()
		if revision = strings.TrimSpace(string(tag)); err != nil || revision == "" {
			t.Skipf("no release is tagged before this commit: set %s to a revision to upgrade from (make upgrade-test)", upgradeFrom)
		}
	}
	dir := t.TempDir()
	archive, source, binary := filepath.Join(dir, "source.tar"), filepath.Join(dir, "source"), filepath.Join(dir, "muster")
	if err := os.Mkdir(source, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, command string }{
		{"../..", "git archive --output=" + archive + " " + revision},
		{dir, "tar -xf " + archive + " -C " + source},
		{source, "go build -buildvcs=false -ldflags=-s -o " + binary + " ./cmd/muster"},
	} {
		words := strings.Fields(c.command)
		command := exec.CommandContext(t.Context(), words[0], words[1:]...)
		command.Dir = c.dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c.command, err, out)
		}
	}
	t.Logf("upgrading from %s", revision)
	return binary
}

// fleetReady waits until every pool has its two machines, Ready and up to date.
func fleetReady(w *world.World) {
	w.T.Helper()
	const path = `{.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas} {.status.conditions[?(@.type=="Ready")].status}`
	for _, f := range fleet {
		w.Wait(f.object, path, "2 2 2 True")
	}
}

// fleetCalls returns the calls to both clouds.
func fleetCalls(w *world.World) []world.Calls {
	w.T.Helper()
	var all []world.Calls
	for _, variable := range []string{"AWS_ENDPOINT_URL", "AZURE_RESOURCE_MANAGER_ENDPOINT"} {
		cloud := *w
		cloud.Endpoint = w.Printed(variable + `=(\S+)`)
		var c world.Calls
		cloud.Admin(http.MethodGet, "calls", "", &c)
		all = append(all, c)
	}
	return all
}

// fleetQuiet waits until nothing is written for fleetQuietFor, to no cloud and to no specification.
func fleetQuiet(w *world.World) {
	w.T.Helper()
	written := func() string {
		text := fleetState(w)
		for _, c := range fleetCalls(w) {
			text = append(text, fmt.Sprint(c.Mutating))
		}
		return strings.Join(text, "\n")
	}
	w.Eventually(fmt.Sprintf("%v without a write", fleetQuietFor), func() error {
		before := written()
		timer := time.NewTimer(fleetQuietFor)
		defer timer.Stop()
		<-timer.C
		if after := written(); after != before {
			return errors.New(cmp.Diff(before, after))
		}
		return nil
	})
}

// fleetState returns what an upgrade must not change: Nodes with their UIDs, and generation, annotations and UID of every object. The
// annotation with stored look-ups is excluded; fleetLookups covers it.
func fleetState(w *world.World) []string {
	w.T.Helper()
	var state []string
	for _, o := range fleetObjects(w) {
		delete(o.Metadata.Annotations, stored.Annotation)
		text, err := json.Marshal(o) // keys in order
		if err != nil {
			w.T.Fatal(err)
		}
		state = append(state, string(text))
	}
	for _, f := range fleet {
		nodes := w.ReadFrom(f.cluster, `{range .items[*]}{.metadata.name} {.metadata.uid} {.spec.providerID} {.spec.unschedulable}{"\n"}{end}`,
			"nodes")
		state = append(state, strings.Split(strings.TrimSpace(nodes), "\n")...)
	}
	slices.Sort(state)
	return state
}

// fleetLookups returns the look-ups that the objects remember, by object and key. A release may remember more of them, but not others.
func fleetLookups(w *world.World) map[string]string {
	w.T.Helper()
	all := map[string]string{}
	for _, o := range fleetObjects(w) {
		text := o.Metadata.Annotations[stored.Annotation]
		if text == "" {
			continue
		}
		var lookups map[string]string
		if err := json.Unmarshal([]byte(text), &lookups); err != nil {
			w.T.Fatal(err)
		}
		for key, value := range lookups {
			all[o.Kind+"/"+o.Metadata.Name+" "+key] = value
		}
	}
	return all
}

// fleetObject holds the fields of an object that an upgrade must not change.
type fleetObject struct {
	Kind     string
	Metadata struct {
		Name, UID           string
		Generation          int64
		Labels, Annotations map[string]string
	}
}

func fleetObjects(w *world.World) []fleetObject {
	w.T.Helper()
	const kinds = "cluster,machinepool,machine,kubeadmconfig,awsmachinepool,awsmanagedmachinepool,azuremachinepool,azuremachinepoolmachine"
	var list struct{ Items []fleetObject }
	if err := json.Unmarshal([]byte(w.Kubectl("get", kinds, "-o", "json")), &list); err != nil {
		w.T.Fatal(err)
	}
	return list.Items
}
