package launch

import (
	"context"
	"fmt"
	"slices"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// Source holds the inputs of a launch template, for every kind of pool.
type Source struct {
	// Owner of the template and Name under which it is in the cloud.
	Owner cloud.Owner
	Name  string
	// Spec is the kind's spec.awsLaunchTemplate; it is not changed.
	Spec    *awsv1.AWSLaunchTemplate
	Cluster awsv1.ClusterView
	// AssumeOwned is true if a template without an owner tag is read as if it were the pool's.
	AssumeOwned bool
	// Tags are those of the template, its instances and their volumes.
	Tags map[string]string
	// Types are instance types that machines may have beside the template's own; TypesField is where more of them could be
	// named, for messages.
	Types      []Type
	TypesField string
	// KubernetesVersion that the machines should run, with the leading v.
	KubernetesVersion string
	Bootstrap         cloud.Bootstrap
	// Ignition is the kind's spec.ignition, nil when it says nothing; IgnitionAllowed is the gate BootstrapFormatIgnition.
	Ignition        *awsv1.Ignition
	IgnitionAllowed bool
	// Managed is true if the machines are of a node group of EKS, which gives by itself what the template does not say: the image,
	// the user data, the cluster's security group and the instance profile.
	Managed bool
	// OwnImage is true if the template of a node group shall name an image even where the specification names none: the one that
	// EKS publishes for the version is looked up.
	OwnImage bool
	// Images is the family of EKS's images that the node group asks for where its template names none (amiType); empty is EKS's own
	// choice.
	Images string
}

// windows and bottlerocket begin the families of images that don't read cloud-config.
const (
	windows      = "WINDOWS"
	bottlerocket = "BOTTLEROCKET"
)

// DefaultRootDevice is the name of the root volume in the images that EKS supplies, except those of Windows, and windowsRootDevice the name
// in those do.
const (
	DefaultRootDevice = "/dev/xvda"
	windowsRootDevice = "/dev/sda1"
)

// Want is the template that a specification asks for now.
type Want struct {
	// Template identifies it by its hashes. It is zero if it can't be translated without bootstrap data that is missing.
	Template pool.Template
	// RootDevice is the name of the root volume in the image, or in the specification.
	RootDevice string
	// Architecture of the instance types, empty where none is named.
	Architecture string
	// Capacity is the minimum capacity of each machine; nil where no instance type is named.
	Capacity *pool.NodeCapacity

	data *ec2types.RequestLaunchTemplateData
	// stored is true if the user data is to point to the bootstrap data in the cluster's bucket.
	stored bool
}

// resolver looks up what one Source names.
type resolver struct {
	*session.Resolver
	s Source
}

// Want translates the specification, with whatever look-ups that takes. Without bootstrap data there is no template to ask for,
// but for a node group of EKS and for a template that was brought; that one must have been read before.
func (p Pass) Want(ctx context.Context, look *session.Resolver) (Want, error) {
	if p.Source.Spec.Existing != nil {
		return p.wantGiven(ctx, look)
	}
	s := p.Source
	r := resolver{Resolver: look, s: s}
	architecture, capacity, err := s.Machines(ctx, look)
	if err != nil {
		return Want{}, err
	}
	image, err := r.image(ctx, architecture)
	if err != nil {
		return Want{}, err
	}
	f := found{image: image}
	if f.groups, err = r.securityGroups(ctx, fieldGroups, s.Spec.AdditionalSecurityGroups); err != nil {
		return Want{}, err
	}
	if f.interfaces, err = r.interfaceGroups(ctx); err != nil {
		return Want{}, err
	}
	data, err := launchData(s, f)
	if err != nil || s.Bootstrap.Empty() && !s.Managed {
		return Want{Architecture: architecture, Capacity: capacity}, err
	}
	want, err := p.wanted(data, image, architecture)
	want.Capacity = capacity
	return want, err
}

// wanted returns the desired template, with its hashes.
func (p Pass) wanted(data *ec2types.RequestLaunchTemplateData, image image, architecture string) (Want, error) {
	s := p.Source
	how, err := s.deliver(data.ImageId != nil)
	if err != nil {
		return Want{}, err
	}
	data.UserData = encoded(how.text)
	content, err := contentHash(data)
	if err != nil {
		return Want{}, err
	}
	want := Want{
		Template:   pool.Template{Content: s.Bootstrap.Content(content), Data: s.dataHash()},
		RootDevice: s.rootDevice(image), Architecture: architecture, data: data, stored: how.stored,
	}
	if err := p.Memory.mark(s, want); err != nil {
		return Want{}, err
	}
	if latest := p.Memory.latest(); !latest.Same(want.Template) || latest.Data != want.Template.Data {
		want.Template.Description = p.about(want)
	}
	return want, nil
}

// Pass is one look at, or one write to, the launch template of one pool.
type Pass struct {
	Session *session.Session
	Source  Source
	// Memory is the pool's own, which it is locked for.
	Memory *Memory
	Now    time.Time
	// Deleting is true if the pool is being deleted, ByEvent if an event asked for the pass, Trouble if the pool's machines can't be launched.
	Deleting, ByEvent, Trouble bool
}

// Foreign returns the cause of a launch template that has the pool's name without its owner tag; nil when there is none.
func (p Pass) Foreign() *pool.Cause {
	if p.Memory.id == "" || p.Memory.ours || p.Memory.given != nil {
		return nil
	}
	return &pool.Cause{Reason: "ForeignTemplate", Message: fmt.Sprintf(
		"launch template %s (%s) exists and is not this pool's: %s. It is left alone. Delete it, or give this "+
			"pool's template another name in %s",
		p.Source.Name, p.Memory.id, p.Memory.claim.Fact(), fieldName)}
}

// clusters are the names by which tags may name the pool's cluster.
func (s Source) clusters() []string {
	return slices.DeleteFunc([]string{s.Owner.Cluster, s.Cluster.EKSClusterName}, func(name string) bool { return name == "" })
}

// Unowned reports whether a launch template of the pool's name exists without its owner tag, and returns its ID, and why it can't become
// the pool's: it is another owner's, or another cluster's.
func (p Pass) Unowned() (id string, conflict *pool.Cause) {
	foreign := p.Foreign()
	switch {
	case foreign == nil:
		return "", nil
	case p.Memory.claim.ID != "":
		return p.Memory.id, foreign
	case p.Memory.otherCluster != "":
		foreign.Message = fmt.Sprintf("launch template %s (%s) is not adopted: its tags say that it belongs to cluster %q", p.Source.Name,
			p.Memory.id, p.Memory.otherCluster)
		return p.Memory.id, foreign
	}
	return p.Memory.id, nil
}
