package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"

	"github.com/muster-project/muster/local/pki"
	"github.com/muster-project/muster/local/ports"
)

// layout is where things are in the directory of a world.
type layout string

func (l layout) path(parts ...string) string {
	return filepath.Join(append([]string{string(l)}, parts...)...)
}

func (l layout) kubeconfig() string         { return l.path("kubeconfig") }
func (l layout) log(child string) string    { return l.path("logs", child+".log") }
func (l layout) lock(process string) string { return l.path("locks", process+".lock") }
func (l layout) webhook() string            { return l.path("webhook") }

// clusterKubeconfig is the administrator's kubeconfig of a workload cluster.
func (l layout) clusterKubeconfig(namespace, name string) string {
	return l.path("clusters", namespace+"-"+name+".kubeconfig")
}

// make makes the directory and those in it that the supervisor writes to.
func (l layout) make() error {
	for _, dir := range []string{l.path(), l.path("logs"), l.path("locks")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make the directory of the world: %w", err)
		}
	}
	return nil
}

const (
	// lockLimit is how long a process waits for its predecessor, which ends when its supervisor is gone.
	lockLimit = 30 * time.Second
	// lockPause between two tries.
	lockPause = 50 * time.Millisecond
)

// acquire takes the lock of a process of this world. The system gives it back when the process ends, however it ends.
// Until patience has passed it is tried again.
func (l layout) acquire(process string, patience time.Duration) (*fileutil.LockedFile, error) {
	pause := time.NewTicker(lockPause)
	defer pause.Stop()
	for deadline := time.Now().Add(patience); ; <-pause.C {
		f, err := fileutil.TryLockFile(l.lock(process), os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fileutil.ErrLocked) {
			return nil, fmt.Errorf("lock %s: %w", l.lock(process), err)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%w: %s is held by another process", ErrInUse, l.lock(process))
		}
	}
}

// ErrInUse is why a world does not start whose directory another world uses.
var ErrInUse = errors.New("another world uses this directory")

// places are the ports of a world on 127.0.0.1, by what is served there: one of those below, or a cloud by its name. They are chosen
// once and kept.
type places map[string]int

const (
	apiServerPlace = "apiServer"
	webhookPlace   = "webhook"
	healthPlace    = "health"
	metricsPlace   = "metrics"
)

// places finds the ports again or chooses them, and adds them to held. A port that is wanted, or that kubeconfigs lead to, has to be free;
// the others give way.
func (l layout) places(apiServer int, held *ports.Set) (places, error) {
	p, err := l.readPlaces()
	if err != nil {
		return p, err
	}
	if apiServer != 0 {
		p[apiServerPlace] = apiServer
	}
	if port := p[apiServerPlace]; port != 0 {
		if err := held.Take(port); err != nil {
			return p, fmt.Errorf("want port %d for the API server, found it taken; end what listens there, or choose another port: %w", port, err)
		}
	}
	names := append([]string{apiServerPlace, webhookPlace, healthPlace, metricsPlace}, Clouds()...)
	// Those that are found again come first, so that none of them is chosen for another.
	for _, name := range names {
		if port := p[name]; port != 0 && name != apiServerPlace && held.Take(port) != nil {
			delete(p, name)
		}
	}
	for _, name := range names {
		if p[name] == 0 {
			if p[name], err = held.Pick(l.path(strings.ToLower(name))); err != nil {
				return p, err
			}
		}
	}
	return p, l.writePlaces(p)
}

// placesFile keeps the ports.
func (l layout) placesFile() string { return l.path("world.json") }

func (l layout) readPlaces() (places, error) {
	p := places{}
	b, err := os.ReadFile(l.placesFile())
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		return p, fmt.Errorf("read the ports of the world from %s: %w", l.placesFile(), err)
	}
	return p, nil
}

func (l layout) writePlaces(p places) error {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("write the ports of the world: %w", err)
	}
	return pki.WriteFile(l.placesFile(), append(b, '\n'))
}
