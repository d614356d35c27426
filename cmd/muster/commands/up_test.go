package commands

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/cmd/muster/screen"
	"github.com/muster-project/muster/local/seed"
	"github.com/muster-project/muster/view"
)

func TestUpChecksItsFlags(t *testing.T) {
	good := up{clouds: simulatedClouds, speed: 10, timeout: time.Minute}
	if err := good.check(); err != nil {
		t.Fatalf("the defaults: want no error, got %v", err)
	}
	for _, tc := range []struct {
		reason string
		change func(*up)
		want   string
	}{
		{reason: "time must pass", change: func(u *up) { u.speed = 0 }, want: "--speed: wanted a number above 0, found 0"},
		{reason: "and not backwards", change: func(u *up) { u.speed = -1 }, want: "--speed: wanted a number above 0, found -1"},
		{reason: "a port has 16 bits", change: func(u *up) { u.port = 70000 }, want: "--port: wanted 0 to 65535, found 70000"},
		{reason: "waiting for no time is no waiting", change: func(u *up) { u.timeout = 0 }, want: "--timeout: wanted a time above 0, found 0s"},
		{reason: "a cloud must be simulated", change: func(u *up) { u.clouds = []string{"aws", "moon"} },
			want: `--clouds: "moon" is not simulated: choose from aws, azure, gcp, scaleway, oci`},
		{reason: "a pool must be there", change: func(u *up) { u.pools = []string{"aks-mp-0"} },
			want: `--pools: "aks-mp-0" is not built in on aws, azure, gcp, scaleway, oci: choose from capa-mp-0, eks-mmp-0, capz-mp-0, capz-flex-0, aks-pool0, aks-pool1, aks-aso-pool0, capg-mp-0, capg-mp-1, capg-gke-mp-0, caps-mp-0, capoci-mp-0, capoci-oke-mp-0, capoci-oke-mp-1`},
		{reason: "on one of the clouds", change: func(u *up) { u.clouds, u.pools = []string{"aws"}, []string{"capz-mp-0"} },
			want: `--pools: "capz-mp-0" is not built in on aws: choose from capa-mp-0, eks-mmp-0`},
		{reason: "a world has a cloud", change: func(u *up) { u.clouds = nil },
			want: "--clouds: wanted at least one of aws, azure, gcp, scaleway, oci, found none"},
	} {
		u := good
		tc.change(&u)
		if err := u.check(); err == nil || err.Error() != tc.want {
			t.Errorf("%s: want %q, got %v", tc.reason, tc.want, err)
		}
	}
}

func TestUpRemovesOnlyItsOwnFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	temporary, given := &up{}, &up{dir: t.TempDir()}
	for _, tc := range []struct {
		reason string
		u      *up
		gone   bool
	}{{"a temporary folder goes with the world", temporary, true}, {"a given one is kept", given, false}} {
		remove, err := tc.u.folder()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(tc.u.dir); err != nil {
			t.Errorf("%s: want it there before, got %v", tc.reason, err)
		}
		if err := remove(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(tc.u.dir); errors.Is(err, os.ErrNotExist) != tc.gone {
			t.Errorf("%s: want it gone: %v, got %v", tc.reason, tc.gone, err)
		}
	}
}

func TestUpWordsItsEnd(t *testing.T) {
	ready, waiting := testPool("ready", 2), testPool("waiting", 1)
	ready.Settled = true
	waiting.Message, waiting.Problems = "1 of 2 instances is Ready",
		[]string{"AWSMachinePool: Ready is False (Waiting): 1 of 2 instances is Ready"}
	died := errors.New("the API server ended")
	for _, tc := range []struct {
		reason     string
		cause      error
		untilReady bool
		pools      []view.Pool
		want       string
	}{
		{reason: "Ctrl-C is how a world is meant to end", cause: context.Canceled},
		{reason: "but not while a script waits for it", cause: context.Canceled, untilReady: true,
			want: "interrupted before every pool was ready"},
		{reason: "a world that dies says of what", cause: died, want: "the API server ended"},
		{reason: "a timeout gives the reasons of those pools that are not ready", cause: errTimeout, untilReady: true,
			pools: []view.Pool{ready, waiting},
			want: "not every pool is ready after 1m0s:\n  default/waiting: 1/2 ready, ? up to date, Creating: 1 of 2 instances is Ready\n    " +
				"AWSMachinePool: Ready is False (Waiting): 1 of 2 instances is Ready"},
		{reason: "a timeout before any pool was read", cause: errTimeout, untilReady: true,
			want: "not every pool is ready after 1m0s:\n  the machine pools could not be read"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(tc.cause)
		var out strings.Builder
		u := &up{untilReady: tc.untilReady, timeout: time.Minute, out: &out, screen: screen.New(&out)}
		got := ""
		if err := u.end(ctx, ctx.Err(), tc.pools); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: want\n%s\ngot\n%s", tc.reason, tc.want, got)
		}
	}
}

func TestSelfCanBeTyped(t *testing.T) {
	for arg0, want := range map[string]string{
		"/tmp/go-build123/b001/exe/muster": "go run ./cmd/muster", "./muster": "./muster", "muster": "muster",
	} {
		if got := self(arg0); got != want {
			t.Errorf("%s: want %s, got %s", arg0, want, got)
		}
	}
}

func TestBuiltInObjectsStayOutOfSomebodysWorld(t *testing.T) {
	dir := t.TempDir()
	record, err := seed.OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifests([]string{"aws"}, nil, []string{"capa-mp-0"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	mine := seed.Object{Unstructured: objects[0].DeepCopy(), File: "mine.yaml", Document: 1}
	mine.SetName("mine")
	if err := record.Add(mine); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			t.Error("want nothing applied, though -f was left out this time")
			return nil
		},
	}).Build()
	if err := (&up{dir: dir, clouds: []string{"aws"}}).sow(t.Context(), c, objects); err != nil {
		t.Fatal(err)
	}
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func testPool(name string, ready int32) view.Pool {
	desired := int32(2)
	return view.Pool{Namespace: "default", Name: name, Cluster: "capa", Desired: &desired, Ready: &ready, State: "Creating",
		Created: noon.Add(-time.Minute)}
}

// TestUpEveryCloud holds that "all" selects every cloud, and is rejected together with the name of one.
func TestUpEveryCloud(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why          string
		clouds, want []string
	}{
		{"every cloud", []string{"all"}, simulatedClouds},
		{"one cloud", []string{"aws"}, []string{"aws"}},
		{"a mixture is refused by its name", []string{"aws", "all"}, []string{"aws", "all"}},
	} {
		if got := expanded(c.clouds); !slices.Equal(got, c.want) {
			t.Errorf("%s: want %v, got %v", c.why, c.want, got)
		}
	}
}
