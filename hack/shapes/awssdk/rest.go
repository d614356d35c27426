package awssdk

import (
	"go/ast"
	"strings"
)

// rest reports a service whose requests are told apart by method and path.
func (m *model) rest() bool { return len(m.routes) > 0 }

// schematic reports a service that the SDK describes by schemas.
func (m *model) schematic() bool { return m.members != nil }

// readSchemas notes what the schemas of a service that speaks REST say: the routes of its operations and how fields are called.
func (m *model) readSchemas(f *ast.File) {
	if m.members == nil {
		m.routes, m.members = map[string]string{}, map[string]bool{}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == 1 {
			if route := routeIn(v); route != "" {
				m.routes[v.Names[0].Name] = route
			}
		}
		if c, ok := n.(*ast.CallExpr); ok {
			if sel, ok := c.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "AddMember" && len(c.Args) > 0 {
				m.members[literal(c.Args[0])] = true
			}
		}
		return true
	})
}

// routeIn is the method and the path that an operation's schema names, "" for what is no operation.
func routeIn(v *ast.ValueSpec) string {
	method, path := "", ""
	ast.Inspect(v, func(n ast.Node) bool {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if key, ok := kv.Key.(*ast.Ident); ok {
			switch key.Name {
			case "Method":
				method = literal(kv.Value)
			case "URI":
				path = literal(kv.Value)
			}
		}
		return true
	})
	if method == "" {
		return ""
	}
	return method + " " + path
}

// jsonName is how a field is called in JSON: its name with a small first letter, which the schemas know.
func (m *model) jsonName(field string) (string, bool) {
	name := strings.ToLower(field[:1]) + field[1:]
	return name, m.members[name]
}
