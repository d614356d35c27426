package aws

import (
	"slices"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/desired"
	"github.com/muster-project/muster/pool"
)

// launchedAs tells what instances were launched as, where the policy of the group names the instance types in the place of its template:
// the type in a template then says nothing, and an instance of a type that the policy names no longer is not what the group would launch.
type launchedAs struct {
	seen   templates
	wanted pool.Template
	// types are those of which the group launches any; nil where the template decides.
	types []string
	// sameButType reports whether a version differs from what is wanted in its type alone.
	sameButType func(ref string) bool
}

func newLaunchedAs(is *asgtypes.AutoScalingGroup, want wanted, seen templates) launchedAs {
	return launchedAs{seen: seen, wanted: want.template.Template, types: want.group.LaunchedTypes(is),
		sameButType: seen.launch.Memory.SameButType(want.template)}
}

// template returns what an instance was launched from. Its content is the wanted one where the group would launch the same.
func (l launchedAs) template(i asgtypes.Instance) pool.Template {
	t := l.seen.of(i.LaunchTemplate)
	if len(l.types) == 0 || l.wanted.Content == "" || !t.Same(l.wanted) && !l.sameButType(t.Ref) {
		return t
	}
	t.Content = l.wanted.Content
	if l.otherType(i) {
		t.Content += " " + ptr.Deref(i.InstanceType, "")
	}
	return t
}

// diff returns in which of the object's fields an instance differs from what is wanted, of its version those that are given.
func (l launchedAs) diff(i asgtypes.Instance, ofVersion []string) []string {
	switch t := l.template(i); {
	case t.Same(l.wanted):
		return nil
	case l.otherType(i):
		return append(slices.Clone(ofVersion), desired.FieldMixed)
	}
	return ofVersion
}

// otherType reports whether an instance is of a type that the group does not launch any more.
func (l launchedAs) otherType(i asgtypes.Instance) bool {
	kind := ptr.Deref(i.InstanceType, "")
	return len(l.types) > 0 && kind != "" && !slices.Contains(l.types, kind)
}
