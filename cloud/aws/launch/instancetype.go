package launch

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/pool"
)

// Type is one instance type that the specification names, and where.
type Type struct{ Name, Field string }

// types are all instance types that the machines may have.
func (s Source) types() []Type {
	var list []Type
	if name := s.Spec.InstanceType; name != "" {
		list = append(list, Type{name, fieldType})
	}
	return append(list, s.Types...)
}

// machines are those of the pool's instance types, which must all exist and have the same architecture, for a template has one image: what
// each of them offers at least. They are nil where no type is named and EKS has one.
func (r resolver) machines(ctx context.Context) (*instanceType, error) {
	types := r.s.types()
	if len(types) == 0 {
		return nil, r.s.noTypes()
	}
	names := make([]string, 0, len(types))
	for _, t := range types {
		names = append(names, t.Name)
	}
	names = session.Unique(names)
	text, err := r.Resolve(ctx, cache.Question{
		Kind: "instanceTypes", Inputs: names,
		Good: func(answer string) bool { return len(parseMachines(answer)) == len(names) },
		Ask:  func(ctx context.Context) (string, error) { return r.describeTypes(ctx, names, types) },
	})
	if err != nil {
		return nil, err
	}
	of := parseMachines(text)
	least := of[types[0].Name]
	for _, t := range types[1:] {
		other := of[t.Name]
		if other.architecture != least.architecture {
			return nil, cloud.Invalidf(t.Field, "instance type %s is %s and %s is %s: one group has one image, for one architecture",
				t.Name, other.architecture, types[0].Name, least.architecture)
		}
		least = least.least(other)
	}
	return &least, nil
}

// Machines returns the architecture of the instance types, empty where none is named and EKS has one, and what each of them offers at
// least.
func (s Source) Machines(ctx context.Context, look *session.Resolver) (architecture string, capacity *pool.NodeCapacity, err error) {
	of, err := resolver{Resolver: look, s: s}.machines(ctx)
	if of == nil || err != nil {
		return "", nil, err
	}
	return of.architecture, of.capacity(s.Managed), nil
}

// noTypes refuses a specification without an instance type, unless EKS has one for it.
func (s Source) noTypes() error {
	if s.Managed {
		return nil
	}
	return cloud.Invalidf(fieldType, "no instance type is named: set it, or overrides in %s", s.TypesField)
}

// describeTypes asks what each type is, in the form in which it is remembered.
func (r resolver) describeTypes(ctx context.Context, names []string, types []Type) (string, error) {
	asked := make([]ec2types.InstanceType, 0, len(names))
	for _, name := range names {
		asked = append(asked, ec2types.InstanceType(name))
	}
	pages := ec2.NewDescribeInstanceTypesPaginator(r.Session.EC2, &ec2.DescribeInstanceTypesInput{InstanceTypes: asked})
	found, err := session.Listed(ctx, pages,
		func(page *ec2.DescribeInstanceTypesOutput) []ec2types.InstanceTypeInfo { return page.InstanceTypes }, 0, r.Now)
	if err != nil {
		return "", unknownType(err, types, r.Session.Region)
	}
	var list []string
	for _, info := range found {
		if m := machineOf(info); m.architecture != "" {
			list = append(list, string(info.InstanceType)+"="+m.text())
		}
	}
	for _, t := range types {
		if !slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(p, t.Name+"=") }) {
			return "", noType(t, r.Session.Region)
		}
	}
	return strings.Join(session.Unique(list), " "), nil
}

// unknownType finds the field of the instance type that the service does not know.
func unknownType(err error, types []Type, region string) error {
	if cloud.KindOf(err) != cloud.Invalid {
		return err
	}
	named := strings.FieldsFunc(err.Error(), func(r rune) bool { return strings.ContainsRune("[], '\"", r) })
	for _, t := range types {
		if slices.Contains(named, t.Name) {
			return noType(t, region)
		}
	}
	return cloud.InField(err, types[0].Field)
}

func noType(t Type, region string) error {
	return cloud.Invalidf(t.Field, "no instance type %s; use one that region %s offers, for example m5.large", t.Name, region)
}
