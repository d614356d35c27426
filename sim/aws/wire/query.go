package wire

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxParameters bounds a request; the largest that Muster sends has some hundred.
	maxParameters = 20000
	// maxDepth bounds how deep names may nest; the deepest shape that AWS publishes here has nine levels.
	maxDepth = 16
)

// ParameterError says which parameter of the query protocols is wrong and why.
type ParameterError struct {
	// Parameter is its dotted name.
	Parameter string
	// Value is the value of the parameter, empty where the name itself is wrong.
	Value string
	// Unknown is a name that the operation does not have.
	Unknown bool
	// Why says what was wanted.
	Why string
}

func (e *ParameterError) Error() string {
	if e.Unknown {
		return fmt.Sprintf("The parameter %s is not recognized", e.Parameter)
	}
	return fmt.Sprintf("Invalid value '%s' for %s. %s", e.Value, e.Parameter, e.Why)
}

// node is a value, or parts with names, or both at once in a malformed request.
type node struct {
	value *string
	parts map[string]*node
}

// DecodeQuery reads the parameters of the query protocols into the struct that dst points to, whose fields have their names as `query`
// tags: dotted names, and lists by number from 1 that are flat (InstanceId.1, EC2) or not (Tags.member.1, Auto Scaling). Action and Version
// are left out. A name that no field has is an error when strict.
func DecodeQuery(params url.Values, dst any, strict bool) error {
	root, err := parseQuery(params)
	if err != nil {
		return err
	}
	d := decoder{strict: strict}
	return d.structure(root, reflect.ValueOf(dst).Elem(), "")
}

func parseQuery(params url.Values) (*node, error) {
	if len(params) > maxParameters {
		return nil, &ParameterError{Parameter: "*", Value: strconv.Itoa(len(params)), Why: "Too many parameters."}
	}
	root := &node{}
	for name, values := range params {
		if name == "Action" || name == "Version" {
			continue
		}
		if len(values) != 1 {
			return nil, &ParameterError{Parameter: name, Value: strings.Join(values, ","), Why: "It is given more than once."}
		}
		path := strings.Split(name, ".")
		if len(path) > maxDepth {
			return nil, &ParameterError{Parameter: name, Unknown: true}
		}
		n := root
		for _, part := range path {
			if n.parts == nil {
				n.parts = map[string]*node{}
			}
			if n.parts[part] == nil {
				n.parts[part] = &node{}
			}
			n = n.parts[part]
		}
		n.value = &values[0]
	}
	return root, nil
}

type decoder struct{ strict bool }

func (d decoder) structure(n *node, dst reflect.Value, path string) error {
	known := map[string]bool{}
	for i := range dst.NumField() {
		tag, ok := dst.Type().Field(i).Tag.Lookup("query")
		if !ok {
			continue
		}
		name, member, _ := strings.Cut(tag, ",")
		known[name] = true
		part, ok := n.parts[name]
		if !ok {
			continue
		}
		if err := d.field(part, dst.Field(i), join(path, name), member); err != nil {
			return err
		}
	}
	if !d.strict {
		return nil
	}
	for name := range n.parts {
		if !known[name] {
			return &ParameterError{Parameter: join(path, name), Unknown: true}
		}
	}
	return nil
}

func (d decoder) field(n *node, dst reflect.Value, path, member string) error {
	switch {
	case dst.Type() == reflect.TypeFor[*time.Time]():
		return d.scalar(n, dst, path)
	case dst.Kind() == reflect.Slice:
		return d.list(n, dst, path, member)
	case dst.Kind() == reflect.Struct:
		return d.structure(n, dst, path)
	case dst.Kind() == reflect.Pointer && dst.Type().Elem().Kind() == reflect.Struct:
		dst.Set(reflect.New(dst.Type().Elem()))
		return d.structure(n, dst.Elem(), path)
	default:
		return d.scalar(n, dst, path)
	}
}

// list reads numbered items. A name without numbers and without a value is an empty list, which clients send to clear one.
func (d decoder) list(n *node, dst reflect.Value, path, member string) error {
	dst.Set(reflect.MakeSlice(dst.Type(), 0, len(n.parts)))
	if member != "" {
		if n.parts[member] == nil {
			return nil
		}
		n, path = n.parts[member], join(path, member)
	}
	type item struct {
		at   int
		name string
	}
	items := make([]item, 0, len(n.parts))
	for name := range n.parts {
		at, err := strconv.Atoi(name)
		if err != nil || at < 0 {
			return &ParameterError{Parameter: join(path, name), Unknown: true}
		}
		items = append(items, item{at, name})
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Or(a.at-b.at, strings.Compare(a.name, b.name)) })
	for _, it := range items {
		v := reflect.New(dst.Type().Elem()).Elem()
		if err := d.field(n.parts[it.name], v, join(path, it.name), ""); err != nil {
			return err
		}
		dst.Set(reflect.Append(dst, v))
	}
	return nil
}

func (d decoder) scalar(n *node, dst reflect.Value, path string) error {
	if n.value == nil {
		if d.strict {
			return &ParameterError{Parameter: path, Unknown: true}
		}
		return nil
	}
	if dst.Kind() == reflect.Pointer {
		dst.Set(reflect.New(dst.Type().Elem()))
		dst = dst.Elem()
	}
	wrong := func(why string) error { return &ParameterError{Parameter: path, Value: *n.value, Why: why} }
	switch dst.Kind() {
	case reflect.String:
		dst.SetString(*n.value)
	case reflect.Bool:
		b, err := strconv.ParseBool(*n.value)
		if err != nil {
			return wrong("It must be true or false.")
		}
		dst.SetBool(b)
	case reflect.Int32, reflect.Int64:
		i, err := strconv.ParseInt(*n.value, 10, dst.Type().Bits())
		if err != nil {
			return wrong("It must be an integer.")
		}
		dst.SetInt(i)
	case reflect.Float64:
		f, ok := number(*n.value)
		if !ok {
			return wrong("It must be a number.")
		}
		dst.SetFloat(f)
	default:
		return d.moment(*n.value, dst, path)
	}
	return nil
}

// number reads a number. What is none by name, or has no end, could not be kept and is refused.
func number(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

func (d decoder) moment(value string, dst reflect.Value, path string) error {
	t, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return &ParameterError{Parameter: path, Value: value, Why: "It must be a time such as 2006-01-02T15:04:05Z."}
	}
	dst.Set(reflect.ValueOf(t))
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
