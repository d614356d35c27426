package aws_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/randfill"

	asshapes "github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	ec2shapes "github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/wire"
)

// FuzzDecodeQuery holds that no form, however odd, does worse than be refused by name, and that what is taken is written back as
// the same form.
func FuzzDecodeQuery(f *testing.F) {
	for _, s := range []string{
		"Name=n", "Flat.1=a&Flat.2=b", "Many.member.1.Key=x", "Inner.Inner.Inner.Key=", "Flat.-1=x", "Wrapped.member=y&Wrapped=z",
		"At=2030-01-01T00:00:00Z",
		"Flat.00000000001=a&Flat.1=b", "Many.member.9223372036854775807.Rate=NaN&Many.member.0.Rate=1e999", "Inner..Key=x&.=y", "Count=+3&On=T",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, form string, strict bool) {
		values, err := url.ParseQuery(form)
		if err != nil {
			return
		}
		var a, b outer
		errA, errB := wire.DecodeQuery(values, &a, strict), wire.DecodeQuery(values, &b, strict)
		if (errA == nil) != (errB == nil) {
			t.Fatalf("want the same twice, got %v and %v", errA, errB)
		}
		if errA != nil {
			// A name without letters has none to be named by.
			unnamed := slices.ContainsFunc(slices.Collect(maps.Keys(values)), func(name string) bool { return name == "" || name[0] == '.' })
			if e, ok := errors.AsType[*wire.ParameterError](errA); !ok || e.Parameter == "" && !unnamed {
				t.Errorf("want an error that names a parameter, got %v", errA)
			}
			return
		}
		text, same := plain(a), plain(b)
		if diff := cmp.Diff(text, same); diff != "" {
			t.Fatalf("want the same twice:\n%s", diff)
		}
		// Every value that is asked for by a name of the shape is a value of the form.
		if name := values.Get("Name"); values.Has("Name") && (a.Name == nil || *a.Name != name) {
			t.Errorf("want the name %q, got %v", name, a.Name)
		}
	})
}

// catcher keeps the request of an SDK client, and answers nothing.
type catcher struct{ form string }

var errCaught = errors.New("caught")

func (c *catcher) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	c.form = string(body)
	return nil, errCaught
}

// calls are operations with large inputs: how the SDK sends one, and the shape that it is read into.
var calls = []struct {
	name string
	send func(context.Context, awssdk.Config, *randfill.Filler) (input any, err error)
	into func() any
}{
	{"CreateAutoScalingGroup", func(ctx context.Context, c awssdk.Config, fill *randfill.Filler) (any, error) {
		in := &autoscaling.CreateAutoScalingGroupInput{}
		fill.Fill(in)
		_, err := autoscaling.NewFromConfig(c).CreateAutoScalingGroup(ctx, in)
		return in, err
	}, func() any { return &asshapes.CreateAutoScalingGroupInput{} }},
	{"UpdateAutoScalingGroup", func(ctx context.Context, c awssdk.Config, fill *randfill.Filler) (any, error) {
		in := &autoscaling.UpdateAutoScalingGroupInput{}
		fill.Fill(in)
		_, err := autoscaling.NewFromConfig(c).UpdateAutoScalingGroup(ctx, in)
		return in, err
	}, func() any { return &asshapes.UpdateAutoScalingGroupInput{} }},
	{"CreateOrUpdateTags", func(ctx context.Context, c awssdk.Config, fill *randfill.Filler) (any, error) {
		in := &autoscaling.CreateOrUpdateTagsInput{}
		fill.Fill(in)
		_, err := autoscaling.NewFromConfig(c).CreateOrUpdateTags(ctx, in)
		return in, err
	}, func() any { return &asshapes.CreateOrUpdateTagsInput{} }},
	{"StartInstanceRefresh", func(ctx context.Context, c awssdk.Config, fill *randfill.Filler) (any, error) {
		in := &autoscaling.StartInstanceRefreshInput{}
		fill.Fill(in)
		_, err := autoscaling.NewFromConfig(c).StartInstanceRefresh(ctx, in)
		return in, err
	}, func() any { return &asshapes.StartInstanceRefreshInput{} }},
	{"CreateLaunchTemplate", func(ctx context.Context, c awssdk.Config, fill *randfill.Filler) (any, error) {
		in := &ec2.CreateLaunchTemplateInput{}
		fill.Fill(in)
		_, err := ec2.NewFromConfig(c).CreateLaunchTemplate(ctx, in)
		return in, err
	}, func() any { return &ec2shapes.CreateLaunchTemplateInput{} }},
	{"DescribeInstances", func(ctx context.Context, c awssdk.Config, fill *randfill.Filler) (any, error) {
		in := &ec2.DescribeInstancesInput{}
		fill.Fill(in)
		_, err := ec2.NewFromConfig(c).DescribeInstances(ctx, in)
		return in, err
	}, func() any { return &ec2shapes.DescribeInstancesInput{} }},
}

// FuzzQueriesOfSDK holds that what the SDK sends is read exactly as it was meant, for inputs of any content.
func FuzzQueriesOfSDK(f *testing.F) {
	for i := range calls {
		for seed := range 6 {
			f.Add(uint8(i), bytes.Repeat([]byte{byte(seed), 0xff, 3, byte(7 * i), 9}, 60))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		call := calls[int(which)%len(calls)]
		caught := &catcher{}
		fill := randfill.NewFromGoFuzz(data).NilChance(0.3).NumElements(1, 2).MaxDepth(9).Funcs(
			func(s *string, c randfill.Continue) { *s = strings.ToValidUTF8("x"+c.String(6), "?") },
			func(at *time.Time, c randfill.Continue) { *at = time.Unix(int64(c.Uint32()), 0).UTC() },
			func(n *float64, c randfill.Continue) { *n = float64(c.Uint32()) / 4 },
		)
		in, err := call.send(t.Context(), awssdk.Config{
			Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), HTTPClient: caught,
			BaseEndpoint: awssdk.String("http://x"),
			Retryer:      func() awssdk.Retryer { return awssdk.NopRetryer{} },
		}, fill)
		if !errors.Is(err, errCaught) {
			return // The SDK itself refuses to send it.
		}
		form, err := url.ParseQuery(caught.form)
		if err != nil || !utf8.ValidString(caught.form) {
			t.Fatalf("want a form, got %v in %s", err, caught.form)
		}
		got := call.into()
		if err := wire.DecodeQuery(form, got, true); err != nil {
			t.Fatalf("%s: %v in %s", call.name, err, caught.form)
		}
		if diff := cmp.Diff(plain(in), plain(got)); diff != "" {
			t.Errorf("%s (-sent +read):\n%s\n%s", call.name, diff, caught.form)
		}
	})
}

// plain is a shape by the names of its fields: pointers followed, what is not set left out, so that the SDK's structs and
// ours can be compared.
func plain(v any) any { return plainOf(reflect.ValueOf(v)) }

func plainOf(v reflect.Value) any {
	if at, ok := v.Interface().(time.Time); ok {
		return at.UTC().Format(time.RFC3339Nano)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return plainOf(v.Elem())
	case reflect.Struct:
		return fieldsOf(v)
	case reflect.Slice:
		list := []any{}
		for i := range v.Len() {
			item := plainOf(v.Index(i))
			// A form has no words for a thing of which nothing is said.
			if inner, ok := item.(map[string]any); !ok || len(inner) > 0 {
				list = append(list, item)
			}
		}
		return list
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Float32, reflect.Float64:
		return v.Float()
	default:
		return v.Interface()
	}
}

func fieldsOf(v reflect.Value) map[string]any {
	fields := map[string]any{}
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() || v.Type().Field(i).Name == "ResultMetadata" {
			continue
		}
		value := plainOf(v.Field(i))
		if list, ok := value.([]any); ok && len(list) == 0 || value == nil || value == "" && v.Field(i).Kind() == reflect.String {
			continue
		}
		if inner, ok := value.(map[string]any); ok && len(inner) == 0 {
			continue
		}
		fields[v.Type().Field(i).Name] = value
	}
	return fields
}
