package nodegroup

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// codeInUse is the code of EKS for a request that an active update, or an existing group of the name, blocks.
	codeInUse = "ResourceInUseException"
	// tokensMost bounds the client tokens that are tried. The service remembers what a token has made, and goes on answering with it when
	// that was deleted meanwhile, or refuses the token when what goes with it has changed (tags, a size): then the next token is due.
	tokensMost  = 5
	tokenLength = 32
)

// createGroup creates the node group, with everything that it shall have from the beginning.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	if err := w.desire(ctx); err != nil {
		return err
	}
	role, err := w.state.role.ARN(ctx)
	if err != nil {
		return err
	}
	input := w.t.createInput(w.state.want, role, int32(s.Size))
	if err := closed(w.t, input.RemoteAccess); err != nil {
		return err
	}
	if w.t.template != "" {
		if input.LaunchTemplate, err = specification(s.Template); err != nil {
			return err
		}
	}
	w.memory.touchedUpdates()
	w.memory.resized = w.now
	err = w.sendCreate(ctx, input)
	if cloud.CodeOf(err) == codeInUse {
		return w.confirmGroupCreated(ctx, err)
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.made = w.now
	}
	return err
}

// sendCreate asks for the group, with the first client token that is not spent.
func (w *writer) sendCreate(ctx context.Context, input *eks.CreateNodegroupInput) (err error) {
	for k := range tokensMost {
		input.ClientRequestToken = nil
		if input.ClientRequestToken, err = w.t.tokenOf(input, strconv.Itoa(k)); err != nil {
			return err
		}
		_, err = w.c.EKS.CreateNodegroup(ctx, input)
		if err = w.memory.role.NotYetVisible(session.Refusal(err, w.now), w.now); !spent(err) {
			break
		}
	}
	return err
}

// spent reports whether the client token once made something else, or something that does not exist any more. Tokens of credentials that
// are denied are others: the words about them are no reason to ask again.
func spent(err error) bool {
	if kind := cloud.KindOf(err); kind != cloud.Invalid && kind != cloud.Conflict {
		return false
	}
	text := strings.ToLower(err.Error())
	return session.Absent(err) && strings.Contains(text, "node group") || strings.Contains(text, "token") ||
		strings.Contains(text, "idempotent")
}

// createInput is the request for a node group of that size.
func (t target) createInput(want desired, role string, size int32) *eks.CreateNodegroupInput {
	g := want.group
	largest := max(size, 1)
	if g.max != nil {
		largest = max(*g.max, size)
	}
	smallest := min(g.min, size)
	input := &eks.CreateNodegroupInput{
		ClusterName: &t.eks, NodegroupName: &t.name, NodeRole: &role, Subnets: g.subnets,
		AmiType: g.images, CapacityType: g.capacity, DiskSize: g.diskSize, InstanceTypes: g.instanceTypes, RemoteAccess: g.remote,
		Labels: g.labels, Taints: g.taints, Tags: g.tags,
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: &smallest, MaxSize: &largest, DesiredSize: &size},
		UpdateConfig:  &g.update,
	}
	if g.repair {
		input.NodeRepairConfig = &ekstypes.NodeRepairConfig{Enabled: &g.repair}
	}
	if next := want.step.next; next.minor != 0 {
		input.Version = new(eksVersion(next.minor))
	}
	if release := want.step.next.release; release != "" {
		input.ReleaseVersion = &release
	}
	return input
}

// confirmGroupCreated reads whether a group that exists already was created by an earlier request, whose reply was lost.
func (w *writer) confirmGroupCreated(ctx context.Context, refused error) error {
	return driverkit.Confirm(refused, w.reader.group(ctx), func() bool {
		is := w.memory.group.is
		return is != nil && w.t.owns(is) && is.Status != ekstypes.NodegroupStatusDeleting
	})
}

// closed refuses remote access without source security groups unless it is meant for everyone: EKS would open it to all.
func closed(t target, remote *ekstypes.RemoteAccessConfig) error {
	if remote == nil || t.pool.RemoteAccess.Public || len(remote.SourceSecurityGroups) > 0 {
		return nil
	}
	return cloud.Invalidf(fieldRemote+".sourceSecurityGroups",
		"neither the pool nor the cluster's nodes have a security group, and EKS opens SSH to all addresses where none is named: name one, or "+
			"set public")
}

// specification names a template's version the way a node group does: by ID and number.
func specification(name string) (*ekstypes.LaunchTemplateSpecification, error) {
	id, number, err := launch.ParseRef(name)
	if err != nil {
		return nil, err
	}
	return &ekstypes.LaunchTemplateSpecification{Id: &id, Version: &number}, nil
}

// tokenOf makes a repeated request the same request: it covers the pool, everything that is sent, and what was there before.
func (t target) tokenOf(input any, before string) (*string, error) {
	request, err := json.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("encode the request for its token: %w", err)
	}
	text, _ := json.Marshal([]string{t.Owner.ID, string(request), before})
	return new(cloud.Digest(text, tokenLength)), nil
}
