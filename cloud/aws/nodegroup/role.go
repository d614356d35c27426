package nodegroup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// commonRole is the ecosystem's node role, which its tools make once for an account. Pools that name no role have it where the
	// controller may make none.
	commonRole = "eks-nodegroup.cluster-api-provider-aws.sigs.k8s.io"
	// roleSuffix ends the names of roles that are made for a pool; longer names than IAM takes end in their hash.
	roleSuffix = "_nodegroup-iam-service-role"
	roleMost   = 64
	roleHash   = 10
	// defaultPartition is that of the commercial regions.
	defaultPartition = "aws"
	// rolePeriod is how long what was read of a role is good enough: who takes a policy away breaks what runs sooner than anybody
	// looks, and what is to be made is looked at in any case.
	rolePeriod = 30 * time.Minute
	// rolesShared is how old an answer may be that was read for another pool, of a role that Muster does not write to.
	rolesShared = 10 * time.Second
	// fieldBoundary is the boundary of a role that we make.
	fieldBoundary = "spec.rolePermissionsBoundary"
)

// nodePolicies are what every node of EKS needs, by the names that Amazon gave them.
var nodePolicies = []string{"AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly"}

// trust lets instances have the role.
const trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":["%s"]},"Action":["sts:AssumeRole"]}]}`

// roleRead is the node role as it was read.
type roleRead struct {
	name string
	// arn is empty when there is none; ours is true if it has the pool's owner tag.
	arn  string
	ours bool
	made time.Time
	// attached are the ARNs of its policies, read for Muster's own roles alone.
	attached   []string
	at, listed time.Time
}

// roleName is the name of the node role: what the specification says, else what the group has, else the ecosystem's common one, or,
// where the controller may make roles, one for the pool alone.
func (p *pass) roleName() string {
	if p.t.pool.RoleName != "" {
		return p.t.pool.RoleName
	}
	if is := p.memory.group.is; is != nil && p.ours(is) && session.Deref(is.NodeRole) != "" {
		return roleNameOf(session.Deref(is.NodeRole))
	}
	if !p.driver.options.EnableIAM {
		return commonRole
	}
	return ownRoleName(p.t)
}

// ownRoleName is the name of the role that is made for a pool.
func ownRoleName(t target) string {
	base := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("+=,.@_-", r):
			return r
		}
		return '-'
	}, t.eks+"-"+t.name)
	if len(base)+len(roleSuffix) <= roleMost {
		return base + roleSuffix
	}
	room := roleMost - len(roleSuffix) - roleHash - 1
	return base[:room] + "-" + cloud.Digest([]byte(t.eks+"\n"+t.name), roleHash) + roleSuffix
}

// partition of the cluster's region, where its view does not say.
func (p *pass) partition() string {
	switch {
	case p.t.cluster.Partition != "":
		return p.t.cluster.Partition
	case strings.HasPrefix(p.c.Region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(p.c.Region, "us-gov-"):
		return "aws-us-gov"
	}
	return defaultPartition
}

// observeRole reads the role, at once where there is no group yet and slowly otherwise, and says what is missing of it, and what of it
// is ours to delete. What the specification asks for and can't have is put to what failed before.
func (p *pass) observeRole(ctx context.Context, failed *error, out *pool.Observed) error {
	if err := p.readRole(ctx); err != nil {
		if p.memory.group.is == nil || cloud.KindOf(err) != cloud.Denied {
			return err
		}
		// The group has its role: that it can't be looked at keeps nothing else from being done.
		out.Issues = append(out.Issues, driverkit.CauseOf(err))
		return nil
	}
	role := p.memory.role
	if role.ours {
		out.Leftovers = []string{needRole(role.name)}
	}
	if failed == nil {
		return nil
	}
	p.rememberPolicies(out.ResolvedLookups)
	switch {
	case role.arn == "" && p.driver.options.EnableIAM:
		out.MissingPrerequisites = []string{needRole(role.name)}
	case role.arn == "" && *failed == nil:
		*failed = cloud.Invalidf(fieldRole,
			"there is no IAM role %s, and the controller makes none: make it, name another, or switch on the feature gate EKSEnableIAM", role.name)
		out.Wanted = pool.Template{}
	case role.ours:
		out.MissingPrerequisites = append(p.missingPolicies(), p.needless()...)
	case len(p.t.pool.RoleAdditionalPolicies) > 0:
		out.Issues = append(out.Issues, pool.Cause{Reason: "ForeignRole", Message: fmt.Sprintf(
			"IAM role %s was not made for this pool: it is used as it is, and %s are not attached to it", role.name, fieldPolicies)})
	}
	return nil
}

// needRole is what the pool needs, by name.
func needRole(name string) string { return "IAM role " + name }

// readRole reads the role, and the policies of one that is ours.
func (p *pass) readRole(ctx context.Context) error {
	known, name := &p.memory.role, p.roleName()
	if known.name != name {
		*known = roleRead{name: name}
	}
	if known.at.IsZero() || known.arn == "" || p.slowBy(known.at, rolePeriod) {
		if err := p.getRole(ctx, name); err != nil {
			return err
		}
	}
	if known.ours && (known.listed.IsZero() || p.slowBy(known.listed, rolePeriod)) {
		return p.listPolicies(ctx)
	}
	return nil
}

func (p *pass) getRole(ctx context.Context, name string) error {
	maxAge := rolesShared
	if known := p.memory.role; p.driver.options.EnableIAM && (known.arn == "" || known.ours) {
		maxAge = 0 // Muster writes to it
	}
	found, err := p.c.Role(ctx, name, maxAge)
	if err != nil {
		return err
	}
	read := roleRead{name: name, at: p.now, attached: p.memory.role.attached, listed: p.memory.role.listed}
	if found != nil {
		read.arn = session.Deref(found.Arn)
		read.ours = slices.ContainsFunc(found.Tags, func(t iamtypes.Tag) bool {
			return session.Deref(t.Key) == session.TagOwner && session.Deref(t.Value) == p.t.Owner.ID
		})
		read.made = session.Deref(found.CreateDate)
	}
	p.memory.role = read
	return nil
}

// policiesMost is more than a role may have.
const policiesMost = 100

func (p *pass) listPolicies(ctx context.Context) error {
	pages := iam.NewListAttachedRolePoliciesPaginator(p.c.IAM, &iam.ListAttachedRolePoliciesInput{RoleName: &p.memory.role.name})
	found, err := session.Listed(ctx, pages, func(page *iam.ListAttachedRolePoliciesOutput) []iamtypes.AttachedPolicy { return page.AttachedPolicies }, policiesMost, p.now)
	if err != nil && !session.Absent(err) {
		return err
	}
	p.memory.role.attached, p.memory.role.listed = nil, p.now
	for _, policy := range found {
		p.memory.role.attached = append(p.memory.role.attached, session.Deref(policy.PolicyArn))
	}
	return nil
}

// roleForGroup is the ARN of the role that a new group gets.
func (p *pass) roleForGroup(ctx context.Context) (string, error) {
	if err := p.readRole(ctx); err != nil {
		return "", err
	}
	if p.memory.role.arn == "" {
		return "", &cloud.Error{Kind: cloud.Conflict, Code: "NoRole", Message: "IAM role " + p.memory.role.name + " does not exist yet: the node group can't be made without it"}
	}
	return p.memory.role.arn, nil
}

// provideRole makes the role, if there is none, and attaches the policies that Muster's role lacks. What the step names was observed;
// what is done follows from what is there now.
func (p *pass) provideRole(ctx context.Context) error {
	if !p.driver.options.EnableIAM {
		return cloud.Invalidf(fieldRole, "the controller makes no IAM roles: switch on its feature gate EKSEnableIAM")
	}
	if err := p.readRole(ctx); err != nil {
		return err
	}
	if p.memory.role.arn == "" {
		if err := p.createRole(ctx); err != nil {
			return err
		}
	}
	if !p.memory.role.ours {
		return nil
	}
	return p.bringPolicies(ctx)
}

// createRole makes the role, with everything that only its maker can give it.
func (p *pass) createRole(ctx context.Context) error {
	name := p.memory.role.name
	input := &iam.CreateRoleInput{
		RoleName: &name, AssumeRolePolicyDocument: new(fmt.Sprintf(trust, p.instanceService())),
		Description: new("nodes of EKS node group " + p.t.name),
	}
	tags := p.t.tags()
	for _, key := range session.SortedKeys(tags) {
		input.Tags = append(input.Tags, iamtypes.Tag{Key: &key, Value: new(tags[key])})
	}
	if p.t.pool.RolePath != "" {
		input.Path = &p.t.pool.RolePath
	}
	if p.t.pool.RolePermissionsBoundary != "" {
		input.PermissionsBoundary = &p.t.pool.RolePermissionsBoundary
	}
	p.memory.role = roleRead{name: name}
	_, err := p.c.IAM.CreateRole(ctx, input)
	if err = session.Refusal(err, p.now); err != nil && cloud.CodeOf(err) != "EntityAlreadyExists" {
		return err
	}
	if err != nil {
		return p.getRole(ctx, name)
	}
	p.memory.role = roleRead{name: name, ours: true, made: p.now}
	return nil
}

// instanceService is EC2 as a role's trust names it.
func (p *pass) instanceService() string {
	if p.partition() == "aws-cn" {
		return "ec2.amazonaws.com.cn"
	}
	return "ec2.amazonaws.com"
}

// roleVisible is how long EKS may not know of a role that IAM has just made.
const roleVisible = 5 * time.Minute

// roleNotSeenYet makes a conflict of EKS's refusal of a role that was made a moment ago: IAM's writes take a while to be seen
// everywhere.
func (p *pass) roleNotSeenYet(err error) error {
	var e *cloud.Error
	if cloud.KindOf(err) != cloud.Invalid || !errors.As(err, &e) || !roleWords.MatchString(e.Message) {
		return err
	}
	if made := p.memory.role.made; !made.IsZero() && p.now.Sub(made) < roleVisible {
		e.Kind = cloud.Conflict
	}
	return err
}

// cleanUp deletes the role, if it is ours, with the policies that we attach. A role that instance profiles still hold, or that has
// policies of others, is in use: it is said who uses it, and left as it is.
func (p *pass) cleanUp(ctx context.Context, _ pool.Step) error {
	if err := p.read(ctx); err != nil {
		return err
	}
	p.memory.role = roleRead{}
	if err := p.readRole(ctx); err != nil {
		return err
	}
	role := p.memory.role
	if role.arn == "" || !role.ours {
		return nil
	}
	if err := p.unused(ctx, role); err != nil {
		return err
	}
	p.memory.role = roleRead{}
	if err := p.detach(ctx, role.name, role.attached); err != nil {
		return err
	}
	_, err := p.c.IAM.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &role.name})
	if err = session.Refusal(err, p.now); session.Absent(err) {
		return nil
	}
	return err
}

// unused returns an error if Muster's role is used by another client.
func (p *pass) unused(ctx context.Context, role roleRead) error {
	known := slices.Concat(p.policies(), p.t.pool.RoleAdditionalPolicies, p.onceAdded())
	var others []string
	for _, arn := range role.attached {
		if !slices.Contains(known, arn) {
			others = append(others, arn)
		}
	}
	if len(others) > 0 {
		return roleInUse(role.name, "policies that another client has attached", others)
	}
	pages := iam.NewListInstanceProfilesForRolePaginator(p.c.IAM, &iam.ListInstanceProfilesForRoleInput{RoleName: &role.name})
	found, err := session.Listed(ctx, pages, func(page *iam.ListInstanceProfilesForRoleOutput) []iamtypes.InstanceProfile {
		return page.InstanceProfiles
	}, policiesMost, p.now)
	if err != nil {
		return err
	}
	for _, profile := range found {
		others = append(others, session.Deref(profile.InstanceProfileName))
	}
	if len(others) > 0 {
		return roleInUse(role.name, "instance profiles that hold it", others)
	}
	return nil
}

func roleInUse(name, by string, list []string) error {
	return &cloud.Error{Kind: cloud.Conflict, Code: "RoleInUse", Message: fmt.Sprintf(
		"IAM role %s was made for this pool and has %s: %s. It is deleted once they are gone", name, by, strings.Join(list, ", "))}
}
