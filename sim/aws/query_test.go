package aws_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/sim/aws/wire"
)

type inner struct {
	Key   *string  `query:"Key"`
	Rate  *float64 `query:"Rate"`
	Inner *inner   `query:"Inner"`
}

type outer struct {
	Name    *string    `query:"Name"`
	Kind    string     `query:"Kind"`
	Count   *int32     `query:"Count"`
	On      *bool      `query:"On"`
	At      *time.Time `query:"At"`
	Flat    []string   `query:"Flat"`
	Wrapped []string   `query:"Wrapped,member"`
	Inner   *inner     `query:"Inner"`
	Many    []inner    `query:"Many,member"`
	Silent  string
}

func ptr[T any](v T) *T { return &v }

func TestDecodeQuery(t *testing.T) {
	for _, c := range []struct {
		why  string
		form string
		want outer
	}{
		{"nothing", "", outer{}},
		{"scalars", "Name=n&Kind=k&Count=-3&On=true&At=2030-01-02T03:04:05Z",
			outer{Name: ptr("n"), Kind: "k", Count: ptr(int32(-3)), On: ptr(true), At: ptr(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))}},
		{"an empty string is a value", "Name=", outer{Name: ptr("")}},
		{"a flat list, by number and not by letter", "Flat.10=c&Flat.2=b&Flat.1=a", outer{Flat: []string{"a", "b", "c"}}},
		{"a list of members", "Wrapped.member.1=a&Wrapped.member.2=b", outer{Wrapped: []string{"a", "b"}}},
		{"an empty list is sent as a bare name", "Wrapped=", outer{Wrapped: []string{}}},
		{"nested", "Inner.Inner.Key=x&Inner.Rate=0.5", outer{Inner: &inner{Rate: ptr(0.5), Inner: &inner{Key: ptr("x")}}}},
		{"a list of structs", "Many.member.2.Key=b&Many.member.1.Key=a", outer{Many: []inner{{Key: ptr("a")}, {Key: ptr("b")}}}},
		{"what others read is passed over", "Action=Do&Version=1&Kind=k", outer{Kind: "k"}},
	} {
		values, err := url.ParseQuery(c.form)
		if err != nil {
			t.Fatal(err)
		}
		var got outer
		if err := wire.DecodeQuery(values, &got, true); err != nil {
			t.Errorf("%s: want no error, got %v", c.why, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
}

func TestDecodeQueryRefusals(t *testing.T) {
	for _, c := range []struct {
		why, form, parameter string
		unknown              bool
	}{
		{"a name that there is not", "Colour=red", "Colour", true},
		{"a name deeper down", "Inner.Colour=red", "Inner.Colour", true},
		{"a field without a name on the wire", "Silent=x", "Silent", true},
		{"no number", "Count=many", "Count", false},
		{"a number too large", "Count=99999999999", "Count", false},
		{"a number that is none", "Inner.Rate=NaN", "Inner.Rate", false},
		{"a number without end", "Inner.Rate=-Inf", "Inner.Rate", false},
		{"no truth", "On=perhaps", "On", false},
		{"no time", "At=noon", "At", false},
		{"no list number", "Flat.first=a", "Flat.first", true},
		{"twice", "Name=a&Name=b", "Name", false},
		{"parts below a value", "Name.Part=a", "Name", true},
		{"too deep", strings.Repeat("Inner.", 20) + "Key=x", strings.Repeat("Inner.", 20) + "Key", true},
	} {
		values, err := url.ParseQuery(c.form)
		if err != nil {
			t.Fatal(err)
		}
		err = wire.DecodeQuery(values, &outer{}, true)
		e, ok := errors.AsType[*wire.ParameterError](err)
		if !ok || e.Parameter != c.parameter || e.Unknown != c.unknown {
			t.Errorf("%s: want an error about %s, unknown %v, got %v", c.why, c.parameter, c.unknown, err)
		}
	}
	values := url.Values{"Colour": {"red"}, "Kind": {"k"}}
	var lax outer
	if err := wire.DecodeQuery(values, &lax, false); err != nil || lax.Kind != "k" {
		t.Errorf("where names are not checked: want the rest read, got %v, %+v", err, lax)
	}
}
