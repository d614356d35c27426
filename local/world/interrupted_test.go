package world

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"

	"github.com/muster-project/muster/test/binary"
	"github.com/muster-project/muster/test/testrun"
)

// TestLongInterruptedAtEveryStage ends the first start of a world in each of its parts, and while definitions are installed; the next start
// in the same folder works.
func TestLongInterruptedAtEveryStage(t *testing.T) {
	testrun.LongOnly(t)
	muster, remove, err := binary.Build("cmd/muster")
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	const api, kinds, simulators, controllers = "Starting the management API server", "Installing kinds and webhooks",
		"Starting the simulated clouds", "Starting the controllers"
	for _, tc := range []struct {
		name, stage string
		after       time.Duration
		next        string // how far the next start has to come; empty means all the way
	}{
		{"the API server starts", api, 0, kinds},
		{"the store is made", api, time.Second, kinds},
		{"definitions are applied", kinds, 150 * time.Millisecond, simulators},
		{"definitions are established", kinds, 400 * time.Millisecond, simulators},
		{"webhooks are installed", simulators, 0, controllers},
		{"the controllers start", controllers, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if w := startUntil(t, muster, dir, tc.stage, tc.after); w != nil {
				t.Log("the start was done before it was ended")
			}
			if tc.next != "" {
				startUntil(t, muster, dir, tc.next, 0)
				return
			}
			w := startUntil(t, muster, dir, "", 0)
			if w == nil {
				t.Fatal("want the world up")
			}
			onlyChosen(t, w.Config())
		})
	}
}

// startUntil starts a world with one cloud and ends the start so long after a stage has begun. It fails the test if the stage is not
// reached, and returns the world if it is up nevertheless, or is to come up.
func startUntil(t *testing.T, muster, dir, stage string, after time.Duration) *World {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	reached := stage == ""
	w, err := Start(ctx, Options{Dir: dir, Clouds: []string{"aws"}, Command: []string{muster}, Progress: func(doing string) {
		if doing == stage {
			reached = true
			time.AfterFunc(after, cancel)
		}
	}})
	if !reached {
		t.Fatalf("want a start that comes to %q, got: %v", stage, err)
	}
	if err != nil {
		if stage == "" {
			t.Fatal(err)
		}
		return nil
	}
	t.Cleanup(func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// onlyChosen holds that kinds of the chosen cloud's provider are installed, and of no other's.
func onlyChosen(t *testing.T, config *rest.Config) {
	t.Helper()
	c, err := apiextensionsv1.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, chosen := range map[string]bool{"awsclusters": true, "gcpclusters": false, "azureclusters": false} {
		_, err := c.CustomResourceDefinitions().Get(t.Context(), name+".infrastructure.cluster.x-k8s.io", metav1.GetOptions{})
		if chosen && err != nil || !chosen && !apierrors.IsNotFound(err) {
			t.Errorf("%s: chosen is %v, found %v", name, chosen, err)
		}
	}
}
