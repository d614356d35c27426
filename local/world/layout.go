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

// Dir is the directory of a world, where everything of it is kept and found again.
type Dir string

// Path joins the directory and further parts.
func (d Dir) Path(parts ...string) string {
	return filepath.Join(append([]string{string(d)}, parts...)...)
}

// Kubeconfig returns the file with the administrator's kubeconfig of the management cluster.
func (d Dir) Kubeconfig() string { return d.Path("kubeconfig") }

// ClusterKubeconfig returns the file with the administrator's kubeconfig of a workload cluster.
func (d Dir) ClusterKubeconfig(namespace, name string) string {
	return d.Path("clusters", namespace+"-"+name+".kubeconfig")
}

// Webhook returns the folder with the certificates of the webhooks.
func (d Dir) Webhook() string { return d.Path("webhook") }

func (d Dir) log(child string) string    { return d.Path("logs", child+".log") }
func (d Dir) lock(process string) string { return d.Path("locks", process+".lock") }

// create creates the directory and those in it that the supervisor writes to.
func (d Dir) create() error {
	for _, dir := range []string{d.Path(), d.Path("logs"), d.Path("locks")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create the directory of the world: %w", err)
		}
	}
	return nil
}

const (
	// lockLimit bounds the wait of a process for its predecessor, which ends after its supervisor.
	lockLimit = 30 * time.Second
	// lockPause is the pause between two attempts.
	lockPause = 50 * time.Millisecond
)

// acquire takes the lock of a process of this world, with attempts until patience has passed. The operating system releases it when the
// process ends.
func (d Dir) acquire(process string, patience time.Duration) (*fileutil.LockedFile, error) {
	pause := time.NewTicker(lockPause)
	defer pause.Stop()
	for deadline := time.Now().Add(patience); ; <-pause.C {
		f, err := fileutil.TryLockFile(d.lock(process), os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fileutil.ErrLocked) {
			return nil, fmt.Errorf("lock %s: %w", d.lock(process), err)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%w: %s is held by another process", ErrInUse, d.lock(process))
		}
	}
}

// ErrInUse is why a world does not start whose directory another world uses.
var ErrInUse = errors.New("another world uses this directory")

// places holds the ports of a world on 127.0.0.1 by purpose: one of the constants below, or the name of a cloud. They are chosen once and
// kept.
type places map[string]int

const (
	apiServerPlace = "apiServer"
	webhookPlace   = "webhook"
	healthPlace    = "health"
	metricsPlace   = "metrics"
	pagePlace      = "page"
)

// places finds the ports again or chooses them, and adds them to held. A port that is wanted, or that kubeconfigs lead to, has to be free;
// the others give way.
func (d Dir) places(apiServer int, held *ports.Set) (places, error) {
	p, err := d.readPlaces()
	if err != nil {
		return p, err
	}
	if apiServer != 0 {
		p[apiServerPlace] = apiServer
	}
	if port := p[apiServerPlace]; port != 0 {
		if err := held.Take(port); err != nil {
			return p, fmt.Errorf("want port %d for the API server, found it taken: end what has it, or choose another port: %w", port, err)
		}
	}
	names := append([]string{apiServerPlace, webhookPlace, healthPlace, metricsPlace, pagePlace}, Clouds()...)
	// Those that are found again come first, so that none of them is chosen for another.
	for _, name := range names {
		if port := p[name]; port != 0 && name != apiServerPlace && held.Take(port) != nil {
			delete(p, name)
		}
	}
	for _, name := range names {
		if p[name] == 0 {
			if p[name], err = held.Pick(d.Path(strings.ToLower(name))); err != nil {
				return p, err
			}
		}
	}
	return p, d.writePlaces(p)
}

// placesFile keeps the ports.
func (d Dir) placesFile() string { return d.Path("world.json") }

func (d Dir) readPlaces() (places, error) {
	p := places{}
	b, err := os.ReadFile(d.placesFile())
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		return p, fmt.Errorf("read the ports of the world from %s: %w", d.placesFile(), err)
	}
	return p, nil
}

func (d Dir) writePlaces(p places) error {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("write the ports of the world: %w", err)
	}
	return pki.WriteFile(d.placesFile(), append(b, '\n'))
}
