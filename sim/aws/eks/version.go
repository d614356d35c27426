package eks

import (
	"cmp"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/aws/wire"
)

// The phases of an update of the version, as "Understand each phase of node updates" has them.
const (
	rollSetUp     = "set up"
	rollScaleUp   = "scale up"
	rollUpgrade   = "upgrade"
	rollScaleDown = "scale down"
)

const (
	// lifeEviction is the time that the pods of a node have to leave it.
	lifeEviction = 15 * time.Minute
	// lifeCool is the wait after a node is drained.
	lifeCool = time.Minute
)

func (r *Updates) updateNodegroupVersion(in *eks.UpdateNodegroupVersionInput) (*eks.UpdateNodegroupVersionOutput, error) {
	id, err := r.Once("UpdateNodegroupVersion", shapes.Str(in.ClientRequestToken), in, func() (string, error) {
		n, err := r.updatable(in.ClusterName, in.NodegroupName)
		if err != nil {
			return "", err
		}
		spec, err := r.nextSpec(n, in)
		if err != nil {
			return "", err
		}
		u := r.newUpdate(n.Cluster(), n.Name(), versionUpdate, versionParams(spec))
		s := n.Shape.ScalingConfig
		n.Roll = &nodeRoll{
			Phase: rollSetUp, From: r.backing.present(n), Min: *s.MinSize, Max: *s.MaxSize, Desired: *s.DesiredSize, Force: in.Force,
			Goal: spec,
		}
		if g := r.groups.Rows.Get(n.Behind); g != nil {
			n.Roll.Desired = *g.Spec.DesiredCapacity
		}
		n.Update, n.Next = u.Number, r.Now.Add(r.Life(lifeProvision))
		n.Shape.Status, n.Shape.ModifiedAt = StatusUpdating, shapes.NewEpoch(r.Now)
		r.nodegroups.TouchNodegroup(n)
		return UpdateKey(n.Cluster(), n.Name(), u.Number), nil
	})
	if err != nil {
		return nil, eksToken(err)
	}
	return &eks.UpdateNodegroupVersionOutput{Update: r.showUpdate(id)}, nil
}

func versionParams(f machineSpec) []eks.UpdateParam {
	var out []eks.UpdateParam
	for _, p := range []struct{ kind, value string }{
		{"LaunchTemplateName", f.Source}, {"LaunchTemplateVersion", f.SourceVersion}, {"ReleaseVersion", f.Release}, {"Version", f.Version},
	} {
		if p.value != "" {
			out = append(out, eks.UpdateParam{Type: p.kind, Value: new(p.value)})
		}
	}
	return out
}

// nextSpec is what machines shall be after an update, as it was asked for and as EKS completes it.
func (r *Updates) nextSpec(n *Nodegroup, in *eks.UpdateNodegroupVersionInput) (machineSpec, error) {
	now := n.Launched[r.backing.present(n)]
	spec := machineSpec{Source: now.Source, SourceVersion: now.SourceVersion}
	if in.LaunchTemplate != nil {
		if now.Source == "" {
			return spec, wire.Refuse("InvalidRequestException",
				"You cannot update a node group with a launch template when it was not created with one.")
		}
		v, err := r.nodegroups.sourceVersion(in.LaunchTemplate)
		if err != nil {
			return spec, err
		}
		if v.Template != now.Source {
			return spec, wire.Refuse("InvalidRequestException",
				"You cannot specify a launch template other than the one that the node group was created with, %s.", now.Source)
		}
		spec.SourceVersion = shapes.Itoa(v.Number)
	}
	if spec.Source != "" {
		if err := r.ownImage(n, in, &spec); err != nil || spec.Own {
			return spec, err
		}
	}
	if n.Shape.AmiType == amiCustom {
		return spec, wire.Refuse("InvalidRequestException", "You cannot change from a custom AMI to an image of Amazon EKS.")
	}
	// "You can update to the latest available AMI version of a node group's current Kubernetes version by not specifying a
	// Kubernetes version in the request."
	spec.Version = cmp.Or(shapes.Str(in.Version), now.Version)
	if err := checkStep(now.Version, spec.Version, shapes.Str(r.clusters.Rows.Get(n.Cluster()).Shape.Version)); err != nil {
		return spec, err
	}
	return spec, r.chooseRelease(n, in, &spec, now)
}

// ownImage reads the image out of the template, and refuses what must not be beside one that is the user's own.
func (r *Updates) ownImage(n *Nodegroup, in *eks.UpdateNodegroupVersionInput, spec *machineSpec) error {
	v := r.templates.Versions.Get(ec2.VersionKey(spec.Source, int64(shapes.Atoi(spec.SourceVersion))))
	if v == nil {
		return wire.Refuse("InvalidRequestException", "The launch template %s has no version %s.", spec.Source, spec.SourceVersion)
	}
	if err := checkSourceData(v); err != nil {
		return err
	}
	if v.Data.InstanceType != "" && len(n.Shape.InstanceTypes) > 0 {
		return badParameter("Instance types in the launch template and the node group cannot both be specified.")
	}
	if v.Data.ImageId == nil {
		return nil
	}
	switch {
	case n.Shape.AmiType != amiCustom:
		return wire.Refuse("InvalidRequestException", "You cannot specify an image id in the launch template of a node group of AMI type %s.",
			n.Shape.AmiType)
	case shapes.Str(in.Version) != "":
		return badParameter("You cannot specify the field version when using custom AMIs.")
	case shapes.Str(in.ReleaseVersion) != "":
		return badParameter("You cannot specify the field releaseVersion when using custom AMIs.")
	}
	spec.Own, spec.Image, spec.Release = true, *v.Data.ImageId, *v.Data.ImageId
	return nil
}

// checkStep refuses a Kubernetes version that the node group cannot go to: back, beyond the control plane, or over one.
func checkStep(from, to, control string) error {
	switch a, b := MinorOf(from), MinorOf(to); {
	case b < 0:
		return badParameter("unsupported Kubernetes version")
	case b < a:
		return badParameter("Nodegroup Kubernetes version %s cannot be downgraded to %s", from, to)
	case b > a+1:
		return badParameter("Nodegroup Kubernetes version %s can only be updated to the next minor version, not to %s", from, to)
	case b > MinorOf(control):
		return badParameter("Nodegroup Kubernetes version %s is greater than that of the cluster, %s", to, control)
	}
	return nil
}

// chooseRelease completes the release, which never goes back.
func (r *Updates) chooseRelease(n *Nodegroup, in *eks.UpdateNodegroupVersionInput, spec *machineSpec, now machineSpec) error {
	releases := catalogue.ReleasesOf(MinorOf(spec.Version))
	spec.Release = cmp.Or(shapes.Str(in.ReleaseVersion), releases[len(releases)-1])
	if err := checkRelease(n.Shape.AmiType, spec.Version, spec.Release); err != nil {
		return err
	}
	if spec.Version == now.Version && slices.Index(releases, spec.Release) < slices.Index(releases, now.Release) {
		return badParameter("Requested Nodegroup release version %s is invalid. The release version cannot be older than %s", spec.Release,
			now.Release)
	}
	spec.Image = r.nodegroups.eksImage(n.Shape.AmiType, spec.Version, spec.Release)
	return nil
}
