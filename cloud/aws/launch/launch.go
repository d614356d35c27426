package launch

import (
	"context"
	"fmt"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// Source is what a launch template is made of, whatever kind of pool it is for.
type Source struct {
	// Owner of the template and Name under which it is in the cloud.
	Owner cloud.Owner
	Name  string
	// Spec is the kind's spec.awsLaunchTemplate; it is not changed.
	Spec    *awsv1.AWSLaunchTemplate
	Cluster awsv1.ClusterView
	// Tags are what the template, its instances and their volumes carry.
	Tags map[string]string
	// Types are instance types that machines may have beside the template's own; TypesField is where more of them could be
	// named, for messages.
	Types      []Type
	TypesField string
	// KubernetesVersion that the machines should run, with the leading v.
	KubernetesVersion string
	Bootstrap         cloud.Bootstrap
	// Managed says that the machines are of a node group of EKS, which gives by itself what the template does not say: the image,
	// the user data, the cluster's security group and the instance profile.
	Managed bool
}

// Want is what a specification asks for now.
type Want struct {
	// Template is what it is told apart by. It is zero when it can't be translated without bootstrap data that is not there.
	Template pool.Template
	// RootDevice is what the image, or the specification, calls the root volume.
	RootDevice string
	// Architecture of the instance types, empty where none is named.
	Architecture string

	data *ec2types.RequestLaunchTemplateData
}

// resolver looks up what one Source names.
type resolver struct {
	*session.Resolver
	s Source
}

// Want translates the specification, with whatever look-ups that takes. Without bootstrap data there is no template to ask for.
func (s Source) Want(ctx context.Context, look *session.Resolver) (Want, error) {
	r := resolver{Resolver: look, s: s}
	architecture, err := r.architecture(ctx)
	if err != nil {
		return Want{}, err
	}
	image, err := r.image(ctx, architecture)
	if err != nil {
		return Want{}, err
	}
	groups, err := r.securityGroups(ctx, s.Spec.AdditionalSecurityGroups)
	if err != nil {
		return Want{}, err
	}
	data, err := launchData(s, image, groups)
	if err != nil || s.Bootstrap.Empty() {
		return Want{Architecture: architecture}, err
	}
	text, err := userData(s.Bootstrap)
	if err != nil {
		return Want{}, err
	}
	data.UserData = &text
	content, err := contentHash(data)
	if err != nil {
		return Want{}, err
	}
	return Want{
		Template:   pool.Template{Content: content, Data: s.Bootstrap.Hash()},
		RootDevice: rootDevice(s.Spec, image), Architecture: architecture, data: data,
	}, nil
}

// Pass is one look at, or one write to, the launch template of one pool.
type Pass struct {
	Session *session.Session
	Source  Source
	// Memory is the pool's own, which it is locked for.
	Memory *Memory
	Now    time.Time
}

// Foreign says that a launch template has our name without being ours; nil when none has.
func (p Pass) Foreign() *pool.Cause {
	if p.Memory.id == "" || p.Memory.ours {
		return nil
	}
	return &pool.Cause{Reason: "ForeignTemplate", Message: fmt.Sprintf(
		"launch template %s (%s) exists and is not this pool's: it has no tag %s of ours. It is left alone. Delete it, or give this pool's template another name in %s",
		p.Source.Name, p.Memory.id, session.TagOwner, fieldName)}
}

// NotOurs makes a conflict of what is somebody else's; nil of nil.
func NotOurs(foreign *pool.Cause) error {
	if foreign == nil {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: foreign.Reason, Message: foreign.Message}
}
