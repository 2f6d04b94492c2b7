// Imported before anything that makes an SDK client: on Node 20 each process would otherwise print the SDK's notice that
// its releases of 2027 need Node 22, in the middle of the live view.
process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true";
