// Package versions is the catalogue of Kubernetes versions that the simulated GKE offers, and the rules by which control planes and nodes
// get from one to another.
package versions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/managed"
)

// The minor versions of Kubernetes that are offered to control planes, the default, and the patches that each has. Nodes may also run the
// minor versions from firstNode on.
const (
	firstNode, firstMinor, lastMinor, defaultMinor = 28, 30, 36, 34
	lastPatch                                      = 7
)

// skew is the number of minor versions that nodes may be behind their control plane, upgradeSkew that with automatic upgrades.
const skew, upgradeSkew = 2, 1

// builds returns GKE's builds of a patch, the newest first.
func builds(minor, patch int) []string {
	base := 1000000 + patch*100000 + minor*1000
	return []string{fmt.Sprintf("1.%d.%d-gke.%d", minor, patch, base+500), fmt.Sprintf("1.%d.%d-gke.%d", minor, patch, base)}
}

// catalogue returns the versions from a minor version on, the newest first.
func catalogue(first int) []string {
	var out []string
	for minor := lastMinor; minor >= first; minor-- {
		for patch := lastPatch; patch >= 0; patch-- {
			out = append(out, builds(minor, patch)...)
		}
	}
	return out
}

// Masters returns the versions that control planes may have, the newest first.
func Masters() []string { return catalogue(firstMinor) }

// Nodes returns the versions that nodes may have, the newest first.
func Nodes() []string { return catalogue(firstNode) }

// Default is the version of a cluster that names none.
func Default() string { return builds(defaultMinor, lastPatch)[0] }

// Channel is a release channel.
type Channel struct {
	Name, Default string
	Valid         []string
}

// Channels returns the release channels. A channel offers minor versions up to one of its own.
func Channels() []Channel {
	var out []Channel
	for name, newest := range map[string]int{"RAPID": lastMinor, "REGULAR": defaultMinor + 1, "STABLE": defaultMinor,
		"EXTENDED": defaultMinor + 1} {
		c := Channel{Name: name, Default: builds(min(newest, defaultMinor), lastPatch)[0]}
		for _, v := range Masters() {
			if managed.Minor(v) <= newest {
				c.Valid = append(c.Valid, v)
			}
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Channel) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Master returns the version of a control plane that a request names: one that is offered, or the newest that an alias stands for. It
// returns the words of GKE's refusal where there is none.
func Master(requested string) (version, refusal string) {
	return resolve(requested, "Master", Masters(), Default())
}

// Node returns the version of nodes that a request names, as Master does. "-" and no version stand for the version of the control plane.
func Node(requested, master string) (version, refusal string) {
	return resolve(requested, "Node", Nodes(), master)
}

func resolve(requested, of string, offered []string, otherwise string) (version, refusal string) {
	switch requested {
	case "", "-":
		return otherwise, ""
	case "latest":
		return offered[0], ""
	}
	v := managed.Offered(offered, requested)
	switch {
	case v != "":
		return v, ""
	case strings.Contains(requested, "-gke."):
		return "", fmt.Sprintf("%s version %q is unsupported.", of, requested)
	}
	return "", fmt.Sprintf("No valid versions with the prefix %q found.", requested)
}

// CheckMaster returns the words with which GKE refuses an upgrade of a control plane, "" for one that it takes.
func CheckMaster(from, to string) string {
	switch {
	case managed.Minor(to) > managed.Minor(from)+1:
		return fmt.Sprintf("Master cannot be upgraded to %q: cannot upgrade the master more than a minor version at a time.", to)
	case managed.Minor(to) < managed.Minor(from):
		return fmt.Sprintf("Master cannot be upgraded to %q: specified version is not newer than the current version.", to)
	}
	return ""
}

// CheckNodes returns the words with which GKE refuses a version of nodes beside that of their control plane, "" for one that it takes.
// upgraded is true for a node pool that GKE upgrades by itself.
func CheckNodes(node, master string, upgraded bool) string {
	behind := managed.Minor(master) - managed.Minor(node)
	switch {
	case behind < 0:
		return fmt.Sprintf("Node version %q must not have a greater minor version than master version %q.", node, master)
	case managed.CompareVersions(node, master) > 0:
		return fmt.Sprintf("Node version %q must not have a greater version than master version %q.", node, master)
	case upgraded && behind > upgradeSkew:
		return fmt.Sprintf("Auto-upgrade is enabled, node version %q must be within one minor version of master version %q.", node, master)
	case behind > skew:
		return fmt.Sprintf("Node version %q must be within two minor versions of master version %q.", node, master)
	}
	return ""
}
