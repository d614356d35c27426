package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The labels of definitions that clusterctl sets.
const (
	providerLabel   = "cluster.x-k8s.io/provider"
	clusterctlLabel = "clusterctl.cluster.x-k8s.io"
)

const installAgain = "install Muster's definitions again (docs/install.md), and keep the other provider from installing its own"

// definitions checks the definitions of the infrastructure kinds with the comparison that decides what the manager runs.
func definitions(f Installation) []Finding {
	var found []Finding
	var unmoved []string
	for _, d := range f.Definitions {
		if d.Core {
			continue
		}
		found = append(found, d.finding())
		if _, ok := d.Labels[clusterctlLabel]; !ok && len(d.Served) > 0 {
			unmoved = append(unmoved, d.Name)
		}
	}
	if len(unmoved) > 0 && !f.Local {
		found = append(found, warning(fmt.Sprintf("%d CustomResourceDefinitions", len(unmoved)),
			"have no label "+clusterctlLabel+": clusterctl move leaves their objects behind",
			"install Muster with clusterctl, or set the label"))
	}
	return found
}

func (d Definition) finding() Finding {
	f := Finding{Object: "CustomResourceDefinition " + d.Name}
	owner := d.Labels[providerLabel]
	switch labels := d.wrongLabels(); {
	case len(d.Served) == 0:
		f.Severity, f.Fact, f.Action = Problem, "does not exist: its kind is not run", "install Muster's definitions: docs/install.md"
	case d.Message != "":
		f.Severity, f.Fact, f.Action = Problem, d.Message, installAgain
	case len(labels) > 0:
		f.Severity, f.Fact, f.Action = Problem, "contract labels differ: "+strings.Join(labels, ", "), installAgain
	case owner != "" && owner != MusterProvider:
		f.Severity, f.Fact, f.Action = Warning, "has what Muster needs, but belongs to "+owner+", whose upgrade replaces it", installAgain
	default:
		f.Severity, f.Fact = OK, "served in "+strings.Join(d.Served, ", ")+", contract labels present"
	}
	return f
}

// wrongLabels returns the contract labels that differ from this build's.
func (d Definition) wrongLabels() (list []string) {
	for _, key := range slices.Sorted(maps.Keys(d.WantLabels)) {
		if want, is := d.WantLabels[key], d.Labels[key]; is != want {
			list = append(list, fmt.Sprintf("%s: want %q, found %q", key, want, is))
		}
	}
	return list
}
