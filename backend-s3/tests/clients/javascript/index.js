// Tests of the AWS SDK for JavaScript, on the server that AWS_ENDPOINT_URL names.

"use strict";

require("./objects.js");
require("./presigned.js");
require("./uploads.js");
require("./versions.js");
