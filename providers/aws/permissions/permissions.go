// Package permissions lists what credentials must allow so that Muster can run machine pools on AWS, as data: each action with the
// reason why it is needed, on which resources, under which conditions. What changes something is allowed for what carries our
// owner tag alone, wherever the service can tell: credentials with this policy can't touch what has another owner, whatever
// a controller asks for.
//
// A test runs every AWS scenario under exactly this policy.
package permissions

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Options choose what is allowed. The zero Options allow AWSMachinePools in the partition aws.
type Options struct {
	// Partition of the cloud: aws, aws-cn, aws-us-gov. Empty means aws.
	Partition string
	// EKS allows node groups (AWSManagedMachinePool).
	EKS bool
	// EKSIAM allows node roles to be made, with the policies that every node needs (feature gate EKSEnableIAM).
	EKSIAM bool
	// EKSAddRoles allows any policy to be attached to them (feature gate EKSAllowAddRoles). It takes EKSIAM along.
	EKSAddRoles bool
	// Bucket is the S3 bucket that user data is kept in which is too large for a template; empty allows none.
	Bucket string
	// NodeRoles are the names, or patterns of names, of roles that machines may be given, in addition to the ecosystem's.
	NodeRoles []string
	// AssumeRoles are the ARNs of the roles that AWSClusterRoleIdentities name.
	AssumeRoles []string
}

// Action is one action with the reason why it is needed.
type Action struct {
	// Name is the one that policies use: autoscaling:CreateAutoScalingGroup.
	Name string
	// Why it is needed.
	Why string
	// ByService is true if Muster never calls it: a service checks it for another call.
	ByService bool
}

// Grant allows actions on resources under conditions.
type Grant struct {
	// Name of the grant, unique and in letters alone, as policies want it.
	Name string
	// Actions that are allowed.
	Actions []Action
	// Resources are patterns of ARNs.
	Resources []string
	// Conditions are operators with keys with values, as policies have them.
	Conditions Conditions
}

// Conditions are a policy's: operator, key, values.
type Conditions map[string]map[string][]string

// Grants are everything that the options allow, in a fixed order.
func Grants(o Options) ([]Grant, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	all := slices.Concat(groups(o), templates(o), launches(o), lookups(o))
	if o.EKS {
		all = slices.Concat(all, nodeGroups(o))
	}
	if o.EKSIAM {
		all = slices.Concat(all, nodeRoles(o))
	}
	if o.Bucket != "" {
		all = slices.Concat(all, userData(o))
	}
	if len(o.AssumeRoles) > 0 {
		all = append(all, Grant{Name: "MusterAssumeRoles", Resources: o.AssumeRoles, Actions: []Action{
			{Name: "sts:AssumeRole", Why: "an AWSClusterRoleIdentity names a role, maybe in another account"},
		}})
	}
	return all, nil
}

var (
	partitionName = regexp.MustCompile(`^aws(-[a-z]+)*$`)
	bucketName    = regexp.MustCompile(`^[a-z0-9][a-z0-9.*-]{1,61}[a-z0-9*]$`)
	roleName      = regexp.MustCompile(`^[\w+=,.@*-]{1,64}$`)
	roleARN       = regexp.MustCompile(`^arn:aws(-[a-z]+)*:iam::[0-9*]+:role/.+$`)
)

// complete fills in what follows from other options, and refuses what is no name.
func (o *Options) complete() error {
	if o.Partition == "" {
		o.Partition = "aws"
	}
	o.EKSIAM = o.EKSIAM || o.EKSAddRoles
	if o.EKSIAM && !o.EKS {
		return errors.New("node roles are made for node groups alone: allow these too")
	}
	if !partitionName.MatchString(o.Partition) {
		return fmt.Errorf("partition %q: want aws, aws-cn, aws-us-gov or another that begins with aws", o.Partition)
	}
	if o.Bucket != "" && !bucketName.MatchString(o.Bucket) {
		return fmt.Errorf("bucket %q: want the name of an S3 bucket, without s3:// and without a path", o.Bucket)
	}
	for _, name := range o.NodeRoles {
		if !roleName.MatchString(name) {
			return fmt.Errorf("node role %q: want the name of a role, with * for any letters, not its ARN", name)
		}
	}
	for _, arn := range o.AssumeRoles {
		if !roleARN.MatchString(arn) {
			return fmt.Errorf("role %q: want the ARN of a role, arn:%s:iam::ACCOUNT:role/NAME", arn, o.Partition)
		}
	}
	return nil
}

// tagOwner is the tag that makes a cloud object ours. It is on everything that we make.
const tagOwner = "muster.dev/owner"

// ours is the condition that what is changed carries our owner tag.
func ours() Conditions {
	return Conditions{"Null": {"aws:ResourceTag/" + tagOwner: {"false"}}}
}

// madeOurs is the condition that what is made is given our owner tag.
func madeOurs() Conditions {
	return Conditions{"Null": {"aws:RequestTag/" + tagOwner: {"false"}}}
}

// arn is the pattern of a service's resources in every region and account of the partition.
func (o Options) arn(service, resource string) string {
	return "arn:" + o.Partition + ":" + service + ":*:*:" + resource
}

// role is the pattern of roles of that name, at any path.
func (o Options) role(name string) string {
	return "arn:" + o.Partition + ":iam::*:role/" + name
}

// service is the name by which policies know a service of the partition.
func (o Options) service(name string) string {
	if o.Partition == "aws-cn" && name == "ec2" {
		return name + ".amazonaws.com.cn"
	}
	return name + ".amazonaws.com"
}

// Names are the names of a grant's actions, in order.
func (g Grant) Names() []string {
	names := make([]string, 0, len(g.Actions))
	for _, a := range g.Actions {
		names = append(names, a.Name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}
