package intake

// Client is who sends files.
type Client struct {
	Token    string // its name
	Address  string // of the connection
	Protocol string // in which files are sent
	Upload   string // the number of the upload, which its answer has
}
