package elfx

// Map maps the regular file at path, of whatever format, for reading; where
// it cannot be mapped it is read. The bytes are read-only, and whoever reads
// them does so under Guard. They must not be touched after unmap was called.
func Map(path string) (data []byte, unmap func() error, err error) {
	m, err := openMapping(path)
	if err != nil {
		return nil, nil, err
	}
	if m.unmap == nil {
		return m.data, func() error { return nil }, nil
	}
	return m.data, m.unmap, nil
}
