package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/local/ports"
)

// TestChildIsStartedAgain holds that a child that dies is restarted, that its reason is reported, and that repeated deaths end the
// attempts.
func TestChildIsStartedAgain(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	c := newChild("doomed", log, []string{os.Args[0], doomedChild}, os.Environ())
	c.pause = time.Millisecond
	go c.run(t.Context())
	err := <-c.failed
	if err == nil || !strings.Contains(err.Error(), "died 10 times in a row") || !strings.Contains(err.Error(), "nothing works today") {
		t.Fatalf("want it given up after ten deaths, with its last words; got: %v", err)
	}
	if s := c.snapshot(); s.Starts != maxDeaths || s.PID != 0 {
		t.Fatalf("want %d starts and no process, got %+v", maxDeaths, s)
	}
}

// TestChildEndsWithItsInput holds that a child ends without a signal, as it must after its supervisor was killed.
func TestChildEndsWithItsInput(t *testing.T) {
	dir := Dir(t.TempDir())
	if err := dir.create(); err != nil {
		t.Fatal(err)
	}
	c := newChild("patient", dir.log("patient"), []string{os.Args[0], patientChild, string(dir)}, os.Environ())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.run(ctx)
	}()
	// The child holds its lock from when it runs.
	for locked := false; !locked; {
		f, err := dir.acquire("patient", 0)
		locked = errors.Is(err, ErrInUse)
		if err == nil {
			_ = f.Close()
		}
	}
	cancel()
	<-ended
	f, err := dir.acquire("patient", 0)
	if err != nil {
		t.Fatalf("want the lock given back, got: %v", err)
	}
	_ = f.Close()
}

// TestStopKillsWhatDoesNotEnd: a user who presses Ctrl-C gets the terminal back, whatever a child is doing.
func TestStopKillsWhatDoesNotEnd(t *testing.T) {
	dir := Dir(t.TempDir())
	if err := dir.create(); err != nil {
		t.Fatal(err)
	}
	lock, err := dir.acquire("world", 0)
	if err != nil {
		t.Fatal(err)
	}
	w := &World{dir: dir, lock: lock, done: make(chan struct{})}
	for range 2 {
		w.add(Options{Command: []string{os.Args[0]}}, stubbornChild, os.Environ())
	}
	for _, c := range w.children {
		for c.snapshot().PID == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Children() {
		if c.PID != 0 || c.Starts != 1 {
			t.Errorf("want each child killed and none started again, got %+v", c)
		}
	}
}

// TestStartReportsThatItGoesOn: a part that takes long is not silent, and one that has ended is.
func TestStartReportsThatItGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var progress []string
		w := &World{done: make(chan struct{}),
			progress: func(doing string) { progress = append(progress, fmt.Sprintf("%v %s", time.Since(began), doing)) }}
		err := w.until(t.Context(), "the clouds", func(context.Context) error {
			if time.Since(began) < 2500*time.Millisecond {
				return errors.New("not yet")
			}
			return nil
		})
		time.Sleep(time.Minute)
		want := []string{"0s Starting the clouds", "1s Starting the clouds", "2s Starting the clouds"}
		if err != nil || !slices.Equal(progress, want) {
			t.Errorf("want %q, got %q, %v", want, progress, err)
		}
	})
}

// TestLastLine holds that the supervisor reports why a child died in the child's own words.
func TestLastLine(t *testing.T) {
	for _, tc := range []struct{ reason, log, want string }{
		{"an error that it printed", "I1121 started\nerror: port 1 is taken\n", "port 1 is taken"},
		{"the last of several lives", "error: first\nI1121 started\nerror: second\n", "second"},
		{"a panic, whose trace follows", "panic: no such thing\n\ngoroutine 1 [running]:\nmain.main()\n", "no such thing"},
		{"a library's fatal error", "I1128 20:00:28.445570   15788 hooks.go:10] up\nF1128 20:00:28.445571   15788 hooks.go:203] hook failed\n",
			"hook failed"},
		{"out of memory", "fatal error: runtime: out of memory\n\nstack", "runtime: out of memory"},
		{"killed without a word", "I1121 started\n", ""},
		{"nothing at all", "", ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(log, []byte(tc.log), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := lastLine(log); got != tc.want {
				t.Fatalf("want %q, got %q", tc.want, got)
			}
		})
	}
}

// TestPlaces: ports are found again, give way when they are taken, except for the one that kubeconfigs lead to.
func TestPlaces(t *testing.T) {
	dir := Dir(t.TempDir())
	first, err := found(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := found(dir)
	if err != nil || !maps.Equal(again, first) {
		t.Fatalf("want %+v found again, got %+v, %v", first, again, err)
	}
	hold(t, first["aws"])
	moved, err := found(dir)
	if err != nil || moved["aws"] == first["aws"] || moved[apiServerPlace] != first[apiServerPlace] ||
		moved[webhookPlace] != first[webhookPlace] {
		t.Fatalf("port of AWS taken: want that one alone chosen anew, got %+v after %+v, %v", moved, first, err)
	}
	hold(t, first[apiServerPlace])
	if _, err := found(dir); err == nil {
		t.Fatal("port of the API server taken: want an error, got none")
	}
}

// TestPlacesAreKept: a world listens on some of its ports many seconds after it has chosen them. Another one chooses none of them until
// then.
func TestPlacesAreKept(t *testing.T) {
	dir := Dir(t.TempDir())
	var held ports.Set
	defer func() { _ = held.Close() }()
	first, err := dir.places(0, &held)
	if err != nil {
		t.Fatal(err)
	}
	other := Dir(t.TempDir())
	if err := other.writePlaces(maps.Clone(first)); err != nil {
		t.Fatal(err)
	}
	if _, err := found(other); err == nil {
		t.Error("the API server's port is another world's: want an error, got none")
	}
	delete(first, apiServerPlace)
	if err := other.writePlaces(maps.Clone(first)); err != nil {
		t.Fatal(err)
	}
	got, err := found(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, port := range first {
		if got[name] == port {
			t.Errorf("port %d of %s is another world's: want another one, got it", port, name)
		}
	}
}

// found returns the ports of a world that is started and stopped.
func found(dir Dir) (places, error) {
	var held ports.Set
	p, err := dir.places(0, &held)
	return p, errors.Join(err, held.Close())
}

// TestPlacesOfOlderWorlds: the file of a world that was made before a cloud was there is read as it is, and gets a port for that cloud.
func TestPlacesOfOlderWorlds(t *testing.T) {
	dir := Dir(t.TempDir())
	if err := os.WriteFile(dir.placesFile(), []byte(`{"apiServer": 20001, "webhook": 20002, "health": 20003, "metrics": 20004, "aws": 20005}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	p, err := dir.readPlaces()
	if want := (places{apiServerPlace: 20001, webhookPlace: 20002, healthPlace: 20003, metricsPlace: 20004, "aws": 20005}); err != nil ||
		!maps.Equal(p, want) {
		t.Fatalf("want %v, got %v, %v", want, p, err)
	}
	if settings := p.cloudEnvironment(Clouds()); slices.ContainsFunc(settings, func(s string) bool { return strings.HasSuffix(s, ":0") }) {
		t.Errorf("want no setting for the cloud that the world does not have, got %v", settings)
	}
	if p, err = found(dir); err != nil || p["azure"] == 0 {
		t.Errorf("want a port for each cloud, got %v, %v", p, err)
	}
}
