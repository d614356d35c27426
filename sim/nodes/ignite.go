package nodes

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/nodes/apiclient"
	"github.com/muster-project/muster/sim/nodes/cloudinit"
	"github.com/muster-project/muster/sim/nodes/ignition"
)

// ignited prints what Ignition does, before the machine's own system runs.
const ignited = "ignition[611]: "

const (
	// minFetch and maxFetch space out tries to fetch what user data points to; a real server's waits are never sped up.
	minFetch, maxFetch = 200 * time.Millisecond, 5 * time.Second
)

// ErrRefused is why something that user data points to will not be had by asking again.
var ErrRefused = errors.New("refused")

// igniteBoot is the first boot of a machine with user data for Ignition. One whose configuration can't be had or read does not
// come up.
func (g *guest) igniteBoot() (joined, bool) {
	found, err := ignition.Parse(g.UserData, g.fetch)
	if err != nil {
		g.print(ignited, "%v", err)
		g.print(systemd, "Entering emergency mode: the machine does not come up")
		return joined{}, false
	}
	b := &booting{guest: g, config: &cloudinit.Config{Hostname: found.Hostname}, files: files{}}
	for _, f := range found.Files {
		b.files[f.Path] = f.Content
		g.print(ignited, "files: createFilesystemsFiles: createFiles: op: writing file %q (%d bytes)", f.Path, len(f.Content))
	}
	if !g.until(commandsAt) {
		return joined{}, false
	}
	for _, command := range found.Commands {
		g.print(systemd, "Starting %s", command)
		b.unit(command)
	}
	if b.joined == nil {
		g.print(systemd, "%s login: (the machine runs and has not joined a cluster)", g.hostname(b.config))
		return joined{}, false
	}
	return *b.joined, true
}

// unit carries out what a service starts, if that joins a cluster: the script that it runs, line by line.
func (b *booting) unit(command string) {
	for word := range strings.FieldsSeq(command) {
		script, ok := b.files.read(word)
		if !ok {
			continue
		}
		for line := range strings.Lines(string(script)) {
			b.substitute(line)
			if !b.call(strings.TrimSpace(line)) {
				b.guest.print(systemd, "%s: Main process exited, code=exited, status=1/FAILURE", word)
				return
			}
		}
		return
	}
	b.call(command)
}

// configFile is the path of kubeadm's configuration on machines with Ignition.
const configFile = "/etc/kubeadm.yml"

// substitute replaces the variables in kubeadm's configuration, as envsubst does, with the values of the image's metadata agent. Machines
// with Ignition get their own name this way.
func (b *booting) substitute(line string) {
	if text, ok := b.files.read(configFile); ok && strings.Contains(line, "envsubst") {
		b.files[configFile] = []byte(strings.NewReplacer(
			"${COREOS_EC2_HOSTNAME}", b.guest.Hostname, "${COREOS_EC2_INSTANCE_ID}", b.guest.ID, "${COREOS_EC2_IPV4_LOCAL}", b.guest.Address,
			"${COREOS_EC2_AVAILABILITY_ZONE}", b.guest.Zone).Replace(string(text)))
	}
}

// included fetches for cloud-init, where machines can fetch at all.
func (g *guest) included() cloudinit.Fetch {
	if g.fleet.options.Fetch == nil {
		return nil
	}
	return g.fetch
}

// fetch gets what user data points to. It is tried until it is there, or is refused, or the machine is off.
func (g *guest) fetch(source string) ([]byte, error) {
	if g.fleet.options.Fetch == nil {
		return nil, fmt.Errorf("the machine reaches nothing but its cluster")
	}
	b := apiclient.Backoff{Min: minFetch, Max: maxFetch}
	printed := ""
	for {
		content, err := g.fleet.options.Fetch(g.ctx, g.Machine, source)
		if err == nil || errors.Is(err, ErrRefused) {
			return content, err
		}
		if text := err.Error(); text != printed && g.ctx.Err() == nil {
			printed = text
			g.print(initd, "%v, will retry", err)
		}
		if !b.Wait(g.ctx) {
			return nil, err
		}
	}
}
