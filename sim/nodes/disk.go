package nodes

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/muster-project/muster/sim/nodes/apiclient"
	"github.com/muster-project/muster/sim/nodes/kubelet"
)

// Files of one machine.
const (
	consoleFile = "console.log"
	joinedFile  = "kubelet.json"
	bootedFile  = "boot-finished"
)

// disk is a machine's own disk, which survives the end of the process. Without a folder nothing is stored.
type disk struct {
	dir string

	mu   sync.Mutex
	gone bool
	err  error
}

// joined holds the credentials and the registration with which a joined machine resumes as the same node.
type joined struct {
	Server   string               `json:"server"`
	CA       []byte               `json:"ca"`
	Insecure bool                 `json:"insecure,omitempty"`
	Cert     []byte               `json:"cert"`
	Key      []byte               `json:"key"`
	Node     kubelet.Registration `json:"node"`
}

func (j joined) access() apiclient.Access {
	return apiclient.Access{Server: j.Server, CA: j.CA, Insecure: j.Insecure, Cert: j.Cert, Key: j.Key}
}

// newDisk names the folder of a machine below the fleet's; an ID that is no file name is kept in memory.
func newDisk(dir, id string) *disk {
	if dir == "" || !filepath.IsLocal(id) || filepath.Base(id) != id {
		return &disk{}
	}
	return &disk{dir: filepath.Join(dir, id)}
}

// write replaces a file in one step, so that a kill leaves the old or the new one. What goes wrong is kept in err.
func (k *disk) write(name string, content []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dir == "" || k.gone {
		return
	}
	k.err = k.replace(name, content)
}

// add writes at the end of a file.
func (k *disk) add(name string, more []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dir == "" || k.gone {
		return
	}
	k.err = k.grow(name, more)
}

func (k *disk) grow(name string, more []byte) error {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return fmt.Errorf("disk of the machine: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(k.dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("disk of the machine: %w", err)
	}
	_, err = f.Write(more)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("disk of the machine: %w", err)
	}
	return nil
}

func (k *disk) replace(name string, content []byte) error {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return fmt.Errorf("disk of the machine: %w", err)
	}
	path := filepath.Join(k.dir, name)
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return fmt.Errorf("disk of the machine: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("disk of the machine: %w", err)
	}
	return nil
}

// read is a file's content, nil where there is none.
func (k *disk) read(name string) []byte {
	if k.dir == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(k.dir, name))
	if err != nil {
		return nil // Not there, or not readable: the machine boots as a new one and says so.
	}
	return b
}

// join keeps a node's identity. The error of the last write is given back.
func (k *disk) join(j joined) error {
	b, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("disk of the machine: %w", err)
	}
	k.write(joinedFile, b)
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// joined is the identity from before, when there is one that can be used.
func (k *disk) joined() (joined, bool) {
	var j joined
	b := k.read(joinedFile)
	if b == nil || json.Unmarshal(b, &j) != nil || j.Node.Name == "" || len(j.Key) == 0 {
		return joined{}, false
	}
	return j, true
}

// remove deletes everything, now and for good.
func (k *disk) remove() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gone = true
	if k.dir != "" {
		k.err = os.RemoveAll(k.dir)
	}
}
