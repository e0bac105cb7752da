// A message to the user is printed as {"message": "..."}; nothing else that is printed means anything here.
const messageIn = (printed) => {
  try {
    const { message } = JSON.parse(printed);
    return typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
};
