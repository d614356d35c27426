package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
)

// typeField is one instance type that the specification names, and where.
type typeField struct{ name, field string }

func instanceTypes(t target) []typeField {
	var list []typeField
	if name := t.pool.AWSLaunchTemplate.InstanceType; name != "" {
		list = append(list, typeField{name, fieldType})
	}
	if t.pool.MixedInstancesPolicy != nil {
		for i, o := range t.pool.MixedInstancesPolicy.Overrides {
			list = append(list, typeField{o.InstanceType, fmt.Sprintf("%s.overrides[%d].instanceType", fieldMixed, i)})
		}
	}
	return list
}

// architecture is that of the pool's instance types, which must all exist and have the same one, for a template has one
// image.
func (r *resolver) architecture(ctx context.Context) (string, error) {
	types := instanceTypes(r.t)
	if len(types) == 0 {
		return "", cloud.Invalidf(fieldType, "no instance type is named: set it, or overrides in %s", fieldMixed)
	}
	names := make([]string, 0, len(types))
	for _, t := range types {
		names = append(names, t.name)
	}
	names = unique(names)
	text, err := r.once(ctx, question{
		kind: "instanceTypes", inputs: names,
		good: func(answer string) bool { return len(parseTypes(answer)) == len(names) },
		ask:  func(ctx context.Context) (string, error) { return r.describeTypes(ctx, names, types) },
	})
	if err != nil {
		return "", err
	}
	of := parseTypes(text)
	for _, t := range types[1:] {
		if of[t.name] != of[types[0].name] {
			return "", cloud.Invalidf(t.field, "instance type %s is %s and %s is %s: one group has one image, for one architecture",
				t.name, of[t.name], types[0].name, of[types[0].name])
		}
	}
	return of[types[0].name], nil
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
func (r *resolver) describeTypes(ctx context.Context, names []string, types []typeField) (string, error) {
	asked := make([]ec2types.InstanceType, 0, len(names))
	for _, name := range names {
		asked = append(asked, ec2types.InstanceType(name))
	}
	pages := ec2.NewDescribeInstanceTypesPaginator(r.c.ec2, &ec2.DescribeInstanceTypesInput{InstanceTypes: asked})
	found, err := listed(ctx, pages, func(page *ec2.DescribeInstanceTypesOutput) []ec2types.InstanceTypeInfo { return page.InstanceTypes }, 0, r.now)
	if err != nil {
		return "", unknownType(err, types, r.c.region)
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
		if !slices.ContainsFunc(pairs, func(p string) bool { return strings.HasPrefix(p, t.name+"=") }) {
			return "", noType(t, r.c.region)
		}
	}
	return strings.Join(unique(pairs), " "), nil
}

// unknownType finds the field of the instance type that the service does not know.
func unknownType(err error, types []typeField, region string) error {
	if cloud.KindOf(err) != cloud.Invalid {
		return err
	}
	named := strings.FieldsFunc(err.Error(), func(r rune) bool { return strings.ContainsRune("[], '\"", r) })
	for _, t := range types {
		if slices.Contains(named, t.name) {
			return noType(t, region)
		}
	}
	return inField(err, types[0].field)
}

func noType(t typeField, region string) error {
	return cloud.Invalidf(t.field, "no instance type %s; use one that region %s offers, for example m5.large", t.name, region)
}
