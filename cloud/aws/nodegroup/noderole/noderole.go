// Package noderole reads, creates and deletes the IAM role that the nodes of an EKS node group have, and attaches its policies.
//
// A role is changed and deleted only if it carries the owner tag of the pool. Any other role is used as it is. Of a role with the owner
// tag only those policies are detached that an earlier specification of the same pool asked for.
package noderole

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
)

// The fields of the specification that describe the role.
const (
	FieldName     = "spec.roleName"
	FieldPolicies = "spec.roleAdditionalPolicies"
	FieldBoundary = "spec.rolePermissionsBoundary"
)

const (
	// commonRole is the node role that the ecosystem's tools create once in an account. Pools that name no role use it where the
	// controller may not create one.
	commonRole = "eks-nodegroup.cluster-api-provider-aws.sigs.k8s.io"
	// roleSuffix ends the names of roles that are created for a pool. Names that are longer than IAM allows end in their hash.
	roleSuffix    = "_nodegroup-iam-service-role"
	maxNameLength = 64
	hashLength    = 10
	// defaultPartition is the partition of the commercial regions.
	defaultPartition = "aws"
	chinaPartition   = "aws-cn"
	// readPeriod is how long a read of a role is reused. A role that is missing is read in every pass.
	readPeriod = 30 * time.Minute
	// sharedAge is how old an answer may be that was read for another pool, for a role that Muster does not write to.
	sharedAge = 10 * time.Second
	// visibleWithin is how long EKS may not know a role that IAM has just created.
	visibleWithin = 5 * time.Minute
	// maxListed is more policies and instance profiles than a role may have.
	maxListed = 100
)

// trust lets instances assume the role.
const trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":["%s"]},"Action":["sts:AssumeRole"]}]}`

// Words match EKS's error messages about a node role.
var Words = regexp.MustCompile(`(?i)\brole\b|noderole`)

// Spec is what the pool asks for of its node role, and what is known of the pool's node group.
type Spec struct {
	// Name is the role that the user names. It may be empty.
	Name string
	// Current is the ARN of the role that the pool's node group has. It is empty where the group does not exist or is not the pool's.
	Current string
	// GroupExists is true if a node group with the pool's name exists.
	GroupExists bool
	// Cluster and Group are EKS's names of the cluster and of the node group.
	Cluster, Group string
	// Owner is the pool's, and Tags are the tags of a created role, the owner's among them.
	Owner cloud.Owner
	Tags  map[string]string
	// Path and Boundary are the path and the permissions boundary of a created role.
	Path, Boundary string
	// Policies are the ARNs of additional policies.
	Policies []string
	// Partition is that of the cluster's region. Where it is empty it follows from the region.
	Partition string
	// Remembered are the look-ups that the object holds.
	Remembered map[string]string
	// MayCreate is true if the controller may create roles (feature gate EKSEnableIAM), MayAttach if it may attach the specification's
	// policies to them (feature gate EKSAllowAddRoles).
	MayCreate, MayAttach bool
}

// Memory is the node role of one pool as it was read last. Its zero value has everything read again.
type Memory struct {
	name string
	// arn is empty if the role does not exist; owned is true if it is the pool's by its tags.
	arn   string
	owned bool
	// taggedFor is the object that the tags of an owned role name, as cluster/namespace/name.
	taggedFor string
	// made is when the role was created.
	made time.Time
	// attached are the ARNs of its policies, read for owned roles only.
	attached   []string
	at, listed time.Time
	// tolerance decides whether a pool with a node group is observed without a read of its role.
	tolerance driverkit.Tolerance
}

// deletable reports whether Muster deletes the role with the pool.
func (m Memory) deletable() bool { return m.arn != "" && m.owned }

// Pass is one call of Observe or Start as far as it is about the node role.
type Pass struct {
	Session *session.Session
	Now     time.Time
	Spec    Spec
	Memory  *Memory
	// Slow paces the reads of a role that exists.
	Slow *session.SlowReads
}

// NameOf returns the name in a role's ARN, whatever its path.
func NameOf(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// roleName returns the name of the node role: the one that the user names, else the one that the group has, else the ecosystem's common
// role or, where the controller may create roles, one for this pool only.
func (s Spec) roleName() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Current != "":
		return NameOf(s.Current)
	case !s.MayCreate:
		return commonRole
	}
	return s.ownName()
}

// ownName returns the name of the role that is created for the pool.
func (s Spec) ownName() string {
	base := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("+=,.@_-", r):
			return r
		}
		return '-'
	}, s.Cluster+"-"+s.Group)
	if len(base)+len(roleSuffix) <= maxNameLength {
		return base + roleSuffix
	}
	room := maxNameLength - len(roleSuffix) - hashLength - 1
	return base[:room] + "-" + cloud.Digest([]byte(s.Cluster+"\n"+s.Group), hashLength) + roleSuffix
}

// partition returns the partition of a region, unless the cluster names one.
func (s Spec) partition(region string) string {
	switch {
	case s.Partition != "":
		return s.Partition
	case strings.HasPrefix(region, "cn-"):
		return chinaPartition
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return defaultPartition
}

// instanceService returns EC2's name in a role's trust.
func instanceService(partition string) string {
	if partition == chinaPartition {
		return "ec2.amazonaws.com.cn"
	}
	return "ec2.amazonaws.com"
}

// read reads the role, and the policies of an owned one.
func (p Pass) read(ctx context.Context) error {
	known, name := p.Memory, p.Spec.roleName()
	if known.name != name {
		*known = Memory{name: name}
	}
	if known.at.IsZero() || known.arn == "" || p.Slow.Due(known.at, readPeriod) {
		if err := p.get(ctx, name); err != nil {
			return err
		}
	}
	if known.owned && (known.listed.IsZero() || p.Slow.Due(known.listed, readPeriod)) {
		return p.listPolicies(ctx)
	}
	return nil
}

// get reads the role itself, which another pool may have read a moment ago.
func (p Pass) get(ctx context.Context, name string) error {
	maxAge := sharedAge
	if p.Spec.MayCreate && (p.Memory.arn == "" || p.Memory.owned) {
		maxAge = 0 // Muster writes to it
	}
	found, err := p.Session.Role(ctx, name, maxAge)
	if err != nil {
		return err
	}
	read := Memory{name: name, at: p.Now, attached: p.Memory.attached, listed: p.Memory.listed, tolerance: p.Memory.tolerance}
	if found != nil {
		read.arn = ptr.Deref(found.Arn, "")
		claim := session.Spelling.Claim(p.Spec.Owner, func(key string) string { return tagOf(found.Tags, key) })
		read.owned, read.taggedFor = claim.Owned, claim.Named()
		read.made = ptr.Deref(found.CreateDate, time.Time{})
	}
	*p.Memory = read
	return nil
}

// tagOf returns the value of a tag, empty without one.
func tagOf(tags []iamtypes.Tag, key string) string {
	for _, t := range tags {
		if ptr.Deref(t.Key, "") == key {
			return ptr.Deref(t.Value, "")
		}
	}
	return ""
}

// listPolicies reads which policies are attached to the role.
func (p Pass) listPolicies(ctx context.Context) error {
	pages := iam.NewListAttachedRolePoliciesPaginator(p.Session.IAM.ListAttachedRolePolicies,
		&iam.ListAttachedRolePoliciesInput{RoleName: &p.Memory.name})
	found, err := session.Listed(ctx, pages, func(page *iam.ListAttachedRolePoliciesOutput) []iamtypes.AttachedPolicy {
		return page.AttachedPolicies
	}, maxListed, p.Now)
	if err != nil && !session.Absent(err) {
		return err
	}
	p.Memory.attached, p.Memory.listed = nil, p.Now
	for _, policy := range found {
		p.Memory.attached = append(p.Memory.attached, ptr.Deref(policy.PolicyArn, ""))
	}
	return nil
}

// ARN returns the ARN of the role for a new node group. It is a conflict if the role does not exist yet.
func (p Pass) ARN(ctx context.Context) (string, error) {
	if err := p.read(ctx); err != nil {
		return "", err
	}
	if p.Memory.arn == "" {
		return "", &cloud.Error{Kind: cloud.Conflict, Code: "NoRole",
			Message: "IAM role " + p.Memory.name + " does not exist yet: the node group can't be made without it"}
	}
	return p.Memory.arn, nil
}

// NotYetVisible turns EKS's rejection of a role that was created a moment ago into a conflict: IAM's writes take a while to be visible
// everywhere.
func (m Memory) NotYetVisible(err error, now time.Time) error {
	var e *cloud.Error
	if cloud.KindOf(err) != cloud.Invalid || !errors.As(err, &e) || !Words.MatchString(e.Message) {
		return err
	}
	if !m.made.IsZero() && now.Sub(m.made) < visibleWithin {
		e.Kind = cloud.Conflict
	}
	return err
}

// EnsurePrerequisites creates the role if it does not exist, and attaches the policies that an owned role lacks. What the step names was
// observed; what is done follows from what exists now.
func (p Pass) EnsurePrerequisites(ctx context.Context) error {
	if !p.Spec.MayCreate {
		return cloud.Invalidf(FieldName, "the controller makes no IAM roles: switch on its feature gate EKSEnableIAM")
	}
	if err := p.read(ctx); err != nil {
		return err
	}
	if p.Memory.arn == "" {
		if err := p.create(ctx); err != nil {
			return err
		}
	}
	if !p.Memory.owned {
		return nil
	}
	return p.updatePolicies(ctx)
}

// create creates the role, with everything that can be set only at its creation.
func (p Pass) create(ctx context.Context) error {
	name := p.Memory.name
	input := &iam.CreateRoleInput{
		RoleName: &name, AssumeRolePolicyDocument: new(fmt.Sprintf(trust, instanceService(p.Spec.partition(p.Session.Region)))),
		Description: new("nodes of EKS node group " + p.Spec.Group),
	}
	for _, key := range session.SortedKeys(p.Spec.Tags) {
		input.Tags = append(input.Tags, iamtypes.Tag{Key: &key, Value: new(p.Spec.Tags[key])})
	}
	if p.Spec.Path != "" {
		input.Path = &p.Spec.Path
	}
	if p.Spec.Boundary != "" {
		input.PermissionsBoundary = &p.Spec.Boundary
	}
	*p.Memory = Memory{name: name}
	_, err := p.Session.IAM.CreateRole(ctx, input)
	if err = session.Refusal(err, p.Now); err != nil && cloud.CodeOf(err) != "EntityAlreadyExists" {
		return err
	}
	if err != nil {
		return p.get(ctx, name)
	}
	*p.Memory = Memory{name: name, owned: true, made: p.Now}
	return nil
}
