package nodegroup

import (
	"cmp"
	"strings"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/pool"
)

// desired holds the node group and the template that the specification requests.
type desired struct {
	group groupSpec
	// request holds the version and release of the specification, step the next step towards them.
	request versionRequest
	step    upgradeStep
	// launch holds the requested launch template; without one, the capacity of the instance types. It is valid once lookedUp is true.
	launch   launch.Want
	lookedUp bool
	// template identifies the content of machines.
	template   pool.Template
	remembered map[string]string
}

// armProcessor is EC2's word for ARM processors.
const armProcessor = "arm64"

// newestAL2Minor is the last minor version of Kubernetes for which Amazon Linux 2 is EKS's own choice.
const newestAL2Minor = 29

// complete adds to what the specification asks for what follows from the look-ups.
func (s *state) complete() {
	want := &s.want
	if !want.lookedUp {
		return
	}
	if !want.request.image {
		want.group.images = ekstypes.AMITypes(ptr.Deref(s.t.pool.AMIType, ""))
		if want.group.images == "" {
			want.group.images = defaultImages(cmp.Or(want.request.minor, want.request.controlPlane), want.launch.Architecture == armProcessor)
		}
	}
	byEKS := s.t.template == ""
	from := want.launch.Template
	want.template = pool.Template{
		Content: compose(from.Content, byEKS, want.step.next), Data: from.Data, UserManaged: byEKS || from.UserManaged, ByCloud: byEKS,
		Description: from.Description,
	}
}

// capacity is what each node offers, with the operating system of the group's images.
func (w desired) capacity() *pool.NodeCapacity {
	if w.launch.Capacity == nil {
		return nil
	}
	c := *w.launch.Capacity
	if strings.HasPrefix(string(w.group.images), "WINDOWS") {
		c.OperatingSystem = "windows"
	}
	return &c
}

// defaultImages returns the family of images of a pool that names none: the one that EKS chooses for the version of Kubernetes and the
// machines' processor. Windows, GPUs and the like are for the pool to name.
func defaultImages(minor int, arm bool) ekstypes.AMITypes {
	old := minor != 0 && minor <= newestAL2Minor
	switch {
	case old && arm:
		return ekstypes.AMITypesAl2Arm64
	case old:
		return ekstypes.AMITypesAl2X8664
	case arm:
		return ekstypes.AMITypesAl2023Arm64Standard
	}
	return ekstypes.AMITypesAl2023X8664Standard
}
