package instancepool

import (
	"fmt"
	"regexp"
	"strings"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/launch"
	"github.com/muster-project/muster/cloud/oci/session"
)

// Target is one pool as the driver gets it.
type Target = cloud.Target[*ociv1.MachinePoolSource]

const (
	// scheme is the prefix of the OCID in spec.providerID, as the ecosystem's provider writes it.
	scheme = "oci://"
	// poolOCID begins the OCIDs of instance pools.
	poolOCID = "ocid1.instancepool."
	// nameLimit is the maximum length of a display name.
	nameLimit = 255

	fieldGroupName = "metadata.annotations[muster.dev/group-name]"
)

// ocids match what can be an OCID.
var ocids = regexp.MustCompile(`^ocid1(\.[A-Za-z0-9_-]*){3,}$`)

// target is Target with its parts at hand.
type target struct {
	Target
	spec    *ociv1.OCIMachinePoolSpec
	cluster ociv1.ClusterView
	// name is the display name of the instance pool.
	name string
}

func targetOf(t Target) (target, error) {
	if t.Spec == nil || t.Spec.Pool == nil {
		return target{}, cloud.Invalidf("spec", "there is no specification to go by")
	}
	out := target{Target: t, spec: t.Spec.Pool, cluster: t.Spec.Cluster, name: t.Owner.ResourceName()}
	switch {
	case out.cluster.CompartmentID == "":
		return target{}, cloud.Invalidf("spec.compartmentId", "the infrastructure cluster names no compartment")
	case len(out.name) > nameLimit:
		return target{}, cloud.Invalidf(fieldGroupName, "the name has %d characters, and display names have %d at most", len(out.name), nameLimit)
	}
	return out, driverkit.CheckPlaces(t.GroupID, driverkit.Place{
		Object: "infrastructure cluster", Kind: "compartment", Field: "spec.compartmentId", Name: out.cluster.CompartmentID, Names: ocids})
}

// groupID returns the ID of a pool in the form of spec.providerID.
func groupID(ocid string) string { return scheme + ocid }

// named returns the OCID of the pool that the object names; empty if it names none.
func (t target) named() string {
	if id := strings.TrimPrefix(t.GroupID, scheme); strings.HasPrefix(id, poolOCID) {
		return id
	}
	return ""
}

// claim compares tags with the pool.
func (t target) claim(tags map[string]string) cloud.Claim {
	return t.Claim(session.Spelling, session.TagOf(tags))
}

// source returns the source of the instance configuration.
func (t target) source() launch.Source {
	return launch.Source{Owner: t.Owner, Pool: t.spec, Cluster: &t.cluster, Group: t.name, Bootstrap: t.Bootstrap}
}

// labelOf returns a pool as messages name it.
func (t target) labelOf(name string) string {
	return fmt.Sprintf("instance pool %s of compartment %s", name, t.cluster.CompartmentID)
}

// byProvider reports whether tags are those that the ecosystem's provider writes to objects of the target's cluster.
func (t target) byProvider(tags map[string]string) bool {
	return t.cluster.ResourceIdentifier != "" && tags[ociv1.TagCluster] == t.cluster.ResourceIdentifier &&
		tags[ociv1.TagCreatedBy] == ociv1.TagCreatedByValue
}

// otherCluster returns the identifier of another cluster that the tags of the ecosystem's provider name; empty if they name none.
func (t target) otherCluster(tags map[string]string) string {
	if id := tags[ociv1.TagCluster]; id != t.cluster.ResourceIdentifier {
		return id
	}
	return ""
}

// ownership returns what decides whether the pool may be changed.
func (t target) ownership(read poolRead) driverkit.Ownership {
	o := driverkit.Ownership{
		Exists: read.is != nil, Named: read.named, GroupID: t.GroupID, Former: read.former, Kind: "instance pool", Group: t.labelOf(t.name),
		Rename: "by the annotation muster.dev/group-name", Account: t.cluster.CompartmentID, Path: t.name,
	}
	if read.is != nil {
		o.Claim = t.claim(read.is.FreeformTags)
	}
	return o
}

// The states of instance pools that code depends on.
const (
	stateRunning     = "RUNNING"
	stateStopped     = "STOPPED"
	stateStopping    = "STOPPING"
	stateTerminating = "TERMINATING"
	stateTerminated  = "TERMINATED"
)

// typeGMC is the type of pools that a GPU memory cluster manages.
const typeGMC = "GMC"

// exists reports whether a listed pool exists: OCI shows a terminated one for a while.
func exists(p core.InstancePoolSummary) bool { return value(p.LifecycleState) != stateTerminated }

// value returns what p points to; the zero value for nil.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
