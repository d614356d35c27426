package launch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cache"
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

// architecture is that of the pool's instance types, which must all exist and have the same one, for a template has one
// image.
func (r resolver) architecture(ctx context.Context) (string, error) {
	types := r.s.types()
	if len(types) == 0 {
		return "", r.s.noTypes()
	}
	names := make([]string, 0, len(types))
	for _, t := range types {
		names = append(names, t.Name)
	}
	names = session.Unique(names)
	text, err := r.Resolve(ctx, cache.Question{
		Kind: "instanceTypes", Inputs: names,
		Good: func(answer string) bool { return len(parseTypes(answer)) == len(names) },
		Ask:  func(ctx context.Context) (string, error) { return r.describeTypes(ctx, names, types) },
	})
	if err != nil {
		return "", err
	}
	of := parseTypes(text)
	for _, t := range types[1:] {
		if of[t.Name] != of[types[0].Name] {
			return "", cloud.Invalidf(t.Field, "instance type %s is %s and %s is %s: one group has one image, for one architecture",
				t.Name, of[t.Name], types[0].Name, of[types[0].Name])
		}
	}
	return of[types[0].Name], nil
}

// Architecture is that of the instance types, empty where none is named and EKS has one.
func (s Source) Architecture(ctx context.Context, look *session.Resolver) (string, error) {
	return resolver{Resolver: look, s: s}.architecture(ctx)
}

// noTypes refuses a specification without an instance type, unless EKS has one for it.
func (s Source) noTypes() error {
	if s.Managed {
		return nil
	}
	return cloud.Invalidf(fieldType, "no instance type is named: set it, or overrides in %s", s.TypesField)
}

// parseTypes reads remembered types with their architectures: "m5.large=x86_64 t3.small=x86_64".
func parseTypes(text string) map[string]string {
	of := map[string]string{}
	for _, pair := range strings.Fields(text) {
		if name, architecture, ok := strings.Cut(pair, "="); ok {
			of[name] = architecture
		}
	}
	return of
}

// describeTypes asks for the architecture of each type, in the form in which it is remembered.
func (r resolver) describeTypes(ctx context.Context, names []string, types []Type) (string, error) {
	asked := make([]ec2types.InstanceType, 0, len(names))
	for _, name := range names {
		asked = append(asked, ec2types.InstanceType(name))
	}
	pages := ec2.NewDescribeInstanceTypesPaginator(r.Session.EC2, &ec2.DescribeInstanceTypesInput{InstanceTypes: asked})
	found, err := session.Listed(ctx, pages, func(page *ec2.DescribeInstanceTypesOutput) []ec2types.InstanceTypeInfo { return page.InstanceTypes }, 0, r.Now)
	if err != nil {
		return "", unknownType(err, types, r.Session.Region)
	}
	var pairs []string
	for _, info := range found {
		if info.ProcessorInfo == nil {
			continue
		}
		for _, a := range info.ProcessorInfo.SupportedArchitectures {
			if a == ec2types.ArchitectureTypeX8664 || a == ec2types.ArchitectureTypeArm64 {
				pairs = append(pairs, fmt.Sprintf("%s=%s", info.InstanceType, a))
				break
			}
		}
	}
	for _, t := range types {
		if !slices.ContainsFunc(pairs, func(p string) bool { return strings.HasPrefix(p, t.Name+"=") }) {
			return "", noType(t, r.Session.Region)
		}
	}
	return strings.Join(session.Unique(pairs), " "), nil
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
